#!/usr/bin/env python3
"""CPU seconds and memory of exact posteriors: the first variables of insurance, 1,000 rows, three parents, one thread.

    python scripts/bench_posterior.py                      all sizes, each in a process of its own
    python scripts/bench_posterior.py --only uniform 18

Building the cache (for_posterior=1e-9) and compiling are not counted; memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

NETWORK = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks" / "insurance.bif.gz"
SIZES = (("uniform", 15), ("uniform", 18), ("uniform", 20), ("order", 15), ("order", 20), ("order", 22), ("order", 25))
TARGETS = {("uniform", 18): 4, ("uniform", 20): 30, ("order", 20): 1, ("order", 25): 30}
WARM_UP = 11


def measure(prior: str, n: int) -> str:
    """A row of the table."""
    from exactbnc import load, structure_posterior
    from scorecache import Dataset, build_cache

    with tempfile.NamedTemporaryFile(suffix=".bif") as file:
        file.write(gzip.decompress(NETWORK.read_bytes()))
        file.flush()
        rows = load(file.name).sample(1000, seed=0)
    caches = [
        build_cache(Dataset.from_frame(rows.iloc[:, :size]), "bdeu", max_parents=3, for_posterior=1e-9)
        for size in (WARM_UP, n)
    ]
    structure_posterior(caches[0], prior=prior, n_jobs=1)  # loads the kernels
    begun = time.process_time()
    posterior = structure_posterior(caches[1], prior=prior, n_jobs=1)
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    target = TARGETS.get((prior, n), "")
    return f"| {prior} | {n} | {seconds:.2f} | {target} | {peak:,.0f} | {posterior.error_bound:.1g} |"


def main() -> int:
    """Measure one size, or each of them in a process of its own."""
    parser = argparse.ArgumentParser(description="Exact posteriors: CPU seconds and memory.")
    parser.add_argument("--only", nargs=2, metavar=("PRIOR", "N"))
    options = parser.parse_args()
    if not NETWORK.is_file():
        print(f"needs {NETWORK.name} in a folder beside the repository", file=sys.stderr)
        return 2
    if options.only is not None:
        print(measure(options.only[0], int(options.only[1])), flush=True)
        return 0
    print("\n".join(f"{name}: {value}" for name, value in machine_facts().items()), flush=True)
    print("\n| prior | variables | CPU s | target | peak MB | error at most |")
    print("| :-- | --: | --: | --: | --: | --: |", flush=True)
    for prior, n in SIZES:
        subprocess.run([sys.executable, __file__, "--only", prior, str(n)], check=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
