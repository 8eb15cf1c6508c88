// The headers in the order of the wire; what is not valid is not emitted.

#ifndef MRC_DEPARSER_P4
#define MRC_DEPARSER_P4

control MrcDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.srh);
        packet.emit(hdr.segments);
        packet.emit(hdr.routing_tail);
        packet.emit(hdr.inner_ipv6);
        packet.emit(hdr.icmpv6);
    }
}

#endif  // MRC_DEPARSER_P4
