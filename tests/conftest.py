"""Settings for every test."""

from hypothesis import settings

# The first call of a compiled kernel takes seconds, so no example has a deadline.
settings.register_profile("exactbnc", deadline=None)
settings.load_profile("exactbnc")
