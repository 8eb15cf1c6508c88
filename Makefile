# Every target works on a clean clone. Python 3.11 to 3.13, make and git are all that must be there.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help venv venv-full demo test p4 rtl rtl-report lint emit bench nightly lock clean

help:  ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*##  *\(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="	" read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done

venv:  ## create .venv with the run-time set
	@$(PYTHON) scripts/make_venv.py run-time

venv-full:  ## create .venv with everything that tests, RTL and lint need
	@$(PYTHON) scripts/make_venv.py full

demo: venv  ## the main job: two writes over two planes of P4 switches (embedded), 1 % loss, result.json
	@$(BIN)/mrc run scenarios/first-light.yaml --out results/first-light $(ARGS)

test: venv-full  ## the suite that CI runs (ARGS="-k name" narrows it)
	@$(BIN)/python -m pytest $(ARGS)

p4: venv  ## compile p4/ with p4c; without p4c verify that p4/compiled is not stale
	@$(BIN)/python scripts/build_p4.py

rtl: venv-full  ## the cocotb tests alone; TEST=mrc_fifo one bench, WAVES=1 with waves in build/waves
	@WAVES=$(WAVES) $(BIN)/python -m pytest -m rtl $(if $(TEST),cocotb_tests/test_$(TEST).py,cocotb_tests tests/rtl) $(ARGS)

rtl-report: venv-full  ## what the RTL costs: rtl_models/cost.json and the tables of docs/rtl.md
	@$(BIN)/python -m pymodel.rtl.synthesis $(ARGS) && $(BIN)/python -m pymodel.rtl.leaf_cost

lint: venv-full  ## ruff, mypy, Verible, verilator -Wall, p4c warnings as errors where p4c is there
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python scripts/lint_rtl.py && $(BIN)/python scripts/build_p4.py --check

emit: venv-full  ## rewrite what is generated from pymodel/wire/spec.py
	@$(BIN)/python -m pymodel.wire.emit

bench: venv-full  ## measure speed: bench.json (CHECK=1 compares with the committed floors)
	@$(BIN)/mrc bench $(if $(CHECK),--check) $(ARGS)

nightly: venv-full  ## the long tests and comparisons, in docs/nightly.json (resumable)
	@$(BIN)/python scripts/nightly.py $(ARGS)

lock:  ## resolve requirements.lock anew from pyproject.toml (needs uv)
	@$(PYTHON) scripts/make_lock.py

clean:  ## remove the environment and everything that was built
	@rm -rf .venv build results bench.json .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
