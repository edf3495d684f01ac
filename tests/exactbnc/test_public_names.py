"""What `from exactbnc import ...` gives."""

import importlib
import pkgutil
import types

import pytest

import exactbnc
import scorecache


@pytest.mark.parametrize("package", [exactbnc, scorecache], ids=lambda package: package.__name__)
def test_no_public_name_is_hidden_by_a_module_of_the_same_name(package):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)

    hidden = [name for name in package.__all__ if isinstance(getattr(package, name), types.ModuleType)]
    assert hidden == []
