"""Try many more random problems than the test run does, until a time is over.

    python scripts/soak.py [--seconds 600] [--first-seed 1000000]

Every problem is solved by tree, dp, ilp, auto and enumeration; a disagreement is printed with its seed, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.exactbnc.test_contract import disagreements


def main() -> int:
    """Run until the time is over; 1 if anything disagreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--first-seed", type=int, default=1_000_000)
    options = parser.parse_args()
    end, seed, n_faults = time.monotonic() + options.seconds, options.first_seed, 0
    while time.monotonic() < end:
        for fault in disagreements(seed):
            print(fault, flush=True)
            n_faults += 1
        seed += 1
    print(f"{seed - options.first_seed} problems, {n_faults} disagreements")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
