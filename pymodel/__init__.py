"""MRC workbench: the switch in P4, the NIC as a golden model and as RTL, and the co-simulation that ties them."""
