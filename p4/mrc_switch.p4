// The MRC switch: static SRv6 uSID forwarding for T0 and T1 alike; the tables make the role (docs/switch.md).
//
// Ingress begins with a drop. Whoever drops counts the cause and exits, so nothing later can undo it, and the egress
// port is set by the last step alone: packets in = packets out + every drop cause.

#include <core.p4>
#include <v1model.p4>

#include "include/mrc_headers.p4"
#include "include/packet.p4"
#include "include/telemetry.p4"
#include "include/parser.p4"
#include "include/admission.p4"
#include "include/hop_limit.p4"
#include "include/srh.p4"
#include "include/decapsulation.p4"
#include "include/flavours.p4"
#include "include/srv6.p4"
#include "include/routing.p4"
#include "include/punt.p4"
#include "include/forwarding.p4"
#include "include/queueing.p4"
#include "include/deparser.p4"

control MrcIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Admission() admission;
    LocalSid() first;
    LocalSid() second;
    Routing() routing;
    HopLimit() hop_limit;
    Punt() punt;
    Forwarding() forwarding;
    Queueing() queueing;

    apply {
        mark_to_drop(standard_metadata);
        port_in.count((bit<32>) standard_metadata.ingress_port);

        admission.apply(hdr, meta, standard_metadata);
        if (meta.next_step == NextStep.ROUTE) {
            first.apply(hdr, meta);
            if (meta.next_step == NextStep.LOOK_UP_AGAIN) {
                second.apply(hdr, meta);
            }
        }
        if (meta.next_step != NextStep.CROSS_CONNECT && meta.next_step != NextStep.PUNT) {
            routing.apply(hdr, meta);
        }
        if (meta.hop_limit_paid == 0 && meta.next_step != NextStep.PUNT) {
            // Transit, or the inner packet after decapsulation: no SID has lowered this header's hop limit.
            hop_limit.apply(hdr.ipv6, meta);
        }
        if (meta.next_step == NextStep.PUNT) {
            punt.apply(hdr, meta, standard_metadata);
        } else {
            forwarding.apply(hdr, meta);
            queueing.apply(hdr, meta, standard_metadata);
        }
        standard_metadata.egress_spec = meta.port;
    }
}

control MrcEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Dequeueing() dequeueing;

    apply {
        dequeueing.apply(meta);
        port_out.count((bit<32>) standard_metadata.egress_port);
    }
}

// IPv6 has no header checksum, and what the switch rewrites is covered by none.
control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

V1Switch(MrcParser(), NoChecksum(), MrcIngress(), MrcEgress(), NoChecksum(), MrcDeparser()) main;
