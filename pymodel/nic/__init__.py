"""The golden model of an MRC NIC: event-in, action-out cores that a caller moves through virtual time."""
