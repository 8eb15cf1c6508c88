"""Run the long tests that are due, or those named: `python scripts/nightly.py [job ...]`."""

import sys

from pymodel.bench.nightly import JOBS, run

if __name__ == "__main__":
    if unknown := sorted(set(sys.argv[1:]) - {job.name for job in JOBS}):
        print(f"nightly: found {unknown[0]}, expected one of {', '.join(job.name for job in JOBS)}", file=sys.stderr)
        sys.exit(2)
    failed = run(sys.argv[1:])
    print(f"nightly: failed: {', '.join(failed)}" if failed else "nightly: everything due has passed")
    sys.exit(1 if failed else 0)
