// What every test program has in common: the architecture, a first header that says what to do, and empty controls.
// A program defines headers_t and metadata_t and then uses the macros that it doesn't write itself.

#ifndef SHELL_P4
#define SHELL_P4

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

#define NO_VERIFY control Check(inout headers_t hdr, inout metadata_t meta) { apply { } }
#define NO_EGRESS \
    control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
#define NO_UPDATE control Update(inout headers_t hdr, inout metadata_t meta) { apply { } }
#define DEPARSE_ALL control Writer(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
#define SWITCH V1Switch(Reader(), Check(), In(), Out(), Update(), Writer()) main;

#endif
