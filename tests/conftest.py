"""Settings for every test."""

import signal

from hypothesis import settings

# The first call of a compiled kernel takes seconds, so no example has a deadline.
settings.register_profile("exactbnc", deadline=None)
settings.load_profile("exactbnc")

# A shell starts `... &` with SIGINT ignored, and so would every program be that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
