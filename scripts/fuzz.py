"""Feed hostile files to every reader and see that nothing but our own errors comes out.

    python scripts/fuzz.py [READER ...] [--inputs 200000] [--seconds S] [--seed 0] [--list]

Valid files, written by our own writers, are mutated (`scripts/fuzzing/mutate.py`); what must hold for each is in
`scripts/fuzzing/check.py`. Every `--sample`-th input is large, from 200 kB to 2 MB: blown up, or designed against the
rule on memory (`scripts/fuzzing/designed.py`). These and as many others are measured for memory. An input is told by
its number, so a fault is replayed with the command printed beside it, which also keeps the file. The exit code is 1 if
there was a fault.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzzing.check import Fuzzer
from fuzzing.readers import READERS

MEMORY_FOLDER = Path("/dev/shm")


def main() -> int:
    """Run the readers one after the other; 1 if any input broke a rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", metavar="READER", help="all of them if none is named")
    parser.add_argument("--inputs", type=int, default=200_000, help="how many for each reader")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most so long for each reader")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first input")
    parser.add_argument("--sample", type=int, default=500, help="one of so many is measured, one is large")
    parser.add_argument("--keep", type=Path, help="write every input that breaks a rule into this folder")
    parser.add_argument("--list", action="store_true", help="print the names of the readers")
    options = parser.parse_args()
    if options.list:
        print(*READERS, sep="\n")
        return 0
    unknown = sorted(set(options.readers) - READERS.keys())
    if unknown:
        parser.error(f"no such reader: {', '.join(unknown)}; readers are {', '.join(READERS)}")
    n_faults = 0
    warnings.simplefilter("ignore")
    with TemporaryDirectory(dir=MEMORY_FOLDER if MEMORY_FOLDER.is_dir() else None) as folder:
        for name in options.readers or READERS:
            n_faults += _run(Fuzzer(name, Path(folder)), options)
    return int(n_faults > 0)


def _run(fuzzer: Fuzzer, options: argparse.Namespace) -> int:
    """Try the inputs of one reader; returns how many different faults there are."""
    name, tally, begun = fuzzer.reader.name, fuzzer.tally, time.monotonic()
    cpu, n_tried = time.process_time(), 0
    for number in range(options.seed, options.seed + options.inputs):
        if time.monotonic() - begun > options.seconds:
            break
        n_tried += 1
        is_large = number % options.sample == options.sample - 1
        is_measured = is_large or number % options.sample == 0
        fault = fuzzer.check(number, is_large=is_large, is_measured=is_measured)
        if fault is None:
            continue
        if fault.key not in tally.faults:
            tally.faults[fault.key] = fault.told
            replay = f"scripts/fuzz.py {name} --seed {number} --inputs 1 --sample {options.sample} --keep ."
            print(f"{name}: {fault.told!r}\n  {replay}", flush=True)
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{name}-{number}{fuzzer.reader.suffix}").write_bytes(fuzzer.path.read_bytes())
    spent = time.process_time() - cpu
    print(
        f"{name}: {n_tried:,} inputs from {options.seed}, {tally.accepted:,} accepted ({tally.unwritable:,} not "
        f"writable), {tally.refused:,} refused, {tally.measured:,} measured, {len(tally.faults)} faults; "
        f"{spent:,.0f} s of CPU, {n_tried / spent:,.0f} inputs/s",
        flush=True,
    )
    return len(tally.faults)


if __name__ == "__main__":
    sys.exit(main())
