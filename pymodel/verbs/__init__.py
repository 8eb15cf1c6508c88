"""The API of the NIC for applications and for the node's controller, shaped like OCP `mrc.h` and `mrc_ctl.h`."""
