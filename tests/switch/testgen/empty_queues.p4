// p4/mrc_switch.p4 as P4Testgen can take it: it gives up at truncate(), and at a random() whose bounds are not constants.
//
// A generated test is one packet through a switch whose queues are empty. There the draw decides nothing: no queue holds
// more than its lower bound, which stands in for it. What truncate() would cut off, the tests' runner cuts off.

#include <core.p4>
#include <v1model.p4>

#define random(draw, low, high) draw = (low)
#define truncate(size)

#include "../../../p4/mrc_switch.p4"
