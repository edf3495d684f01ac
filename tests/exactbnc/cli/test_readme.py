import re
import shlex

from tests.exactbnc.cli.conftest import ROOT


def first_example() -> list[str]:
    """The commands of the README's first console block."""
    block = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line.removeprefix("$ ") for line in block[1].splitlines() if line.startswith("$ ")]


def test_first_example_runs_as_printed(exactbnc, tmp_path, monkeypatch):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    commands = first_example()

    runs = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "exactbnc"
        runs.append(exactbnc(*arguments))

    assert [run.code for run in runs] == [0] * len(commands)
    assert (tmp_path / "asia.jkl").exists()
    assert (tmp_path / "asia.jkl.json").exists()
    assert "safe for:   ANB, k-DB and FAN with class 'dysp' with at most 3 parents" in runs[1].out
    assert "status:  optimal (proved" in runs[2].out
    assert (tmp_path / "asia.json").exists()


def test_python_example_runs_as_printed(tmp_path, monkeypatch, capsys):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)

    exec(compile(block[1], "README.md", "exec"), {})

    assert capsys.readouterr().out.startswith("optimal -1142.967")
