"""Write requirements.lock from pyproject.toml; needs uv (`pip install uv`)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pymodel.base.environment import FULL_SECTION, RUN_TIME_SECTION  # noqa: E402


def resolve(*arguments: str) -> list[str]:
    """Return one block of text a package, as pip reads it: name, version, marker and hashes."""
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11", "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--quiet", *arguments]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return text.replace("\\\n", "\0").splitlines()


def main() -> None:
    full = resolve("--group", "full", "--group", "build")
    run_time = {line.split("==")[0] for line in resolve("--group", "build")}
    first = [line for line in full if line.split("==")[0] in run_time]
    rest = [line for line in full if line.split("==")[0] not in run_time]
    head = "# Written by `make lock` from pyproject.toml: every file with its hash, for Python 3.11 to 3.13."
    text = "\n".join([head, RUN_TIME_SECTION, *first, FULL_SECTION, *rest, ""])
    (ROOT / "requirements.lock").write_text(text.replace("\0", "\\\n"), encoding="utf-8")


if __name__ == "__main__":
    main()
