// Queues of the egress port: classes, limits, ECN, trimming (mrc-facts.md 1.12, 1.14, 4.2; docs/switch.md).
//
// v1model tells a queue's depth in egress alone, when it is too late. So the program counts by itself: ingress adds a
// frame's bytes to its queue's cell of queue_bytes, egress takes the same bytes away. What a cell holds is what waits.

#ifndef MRC_QUEUEING_P4
#define MRC_QUEUEING_P4

// Two queues a port: cell 2 * port is that of data, the next one that of control and trimmed packets.
register<bit<32>>(2 * PORTS) queue_bytes;

#define OUTER_BYTES (ETHERNET_BYTES + IPV6_BYTES)

struct queue_settings_t {
    bit<32> data_limit;  // bytes; a queue that holds as much or more takes nothing
    bit<32> high_limit;
    bit<1> ecn;
    bit<32> ecn_low;  // bytes in the data queue
    bit<32> ecn_high;
    bit<1> trim;
    bit<32> trim_bytes;  // of the frame, without a routing header
    bit<6> trim_dscp;
}

control Queueing(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    queue_settings_t settings = { 0, 0, 0, 0, 0, 0, 0, 0 };
    bit<1> high = 0;  // the class of control packets and trimmed ones
    bit<1> trimmable = 0;
    bit<1> trims = 0;
    bit<32> limit;
    bit<32> depth;

    action control_class() {
        high = 1;
        standard_metadata.priority = HIGH_PRIORITY;
    }

    action trimmable_class() {
        trimmable = 1;
        standard_metadata.priority = DATA_PRIORITY;
    }

    action data_class() {
        standard_metadata.priority = DATA_PRIORITY;
    }

    table traffic_class {
        key = {
            hdr.ipv6.dscp: exact @name("dscp");
        }
        actions = {
            control_class;
            trimmable_class;
            data_class;
        }
        const default_action = data_class;
        size = 64;
    }

    action limits(bit<32> data_limit, bit<32> high_limit, bit<1> ecn, bit<32> ecn_low, bit<32> ecn_high, bit<1> trim,
                  bit<32> trim_bytes, bit<6> trim_dscp) {
        settings = { data_limit, high_limit, ecn, ecn_low, ecn_high, trim, trim_bytes, trim_dscp };
    }

    // The queues of a port that has no entry have no limits.
    table port_queues {
        key = {
            meta.port: exact @name("port");
        }
        actions = {
            limits;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = PORTS;
    }

    // Reads, decides and writes within one action, which nothing interrupts: egress changes the same cells.
    @hidden action enqueue() {
        queue_bytes.read(depth, meta.queue);
        meta.queued = depth < limit ? meta.length : 0;
        queue_bytes.write(meta.queue, depth + meta.queued);
    }

    apply {
        if (hdr.ipv6.isValid()) {
            traffic_class.apply();
        } else {
            control_class();
        }
        if (port_queues.apply().hit) {
            meta.queue = (bit<32>) meta.port << 1;
            if (high == 0) {
                limit = settings.data_limit;
                enqueue();
                if (meta.queued == 0) {
                    if (trimmable == 0) {
                        queue_full();
                    }
                    if (settings.trim == 0) {
                        trim_disabled();
                    }
                    trims = 1;
                    hdr.ipv6.dscp = settings.trim_dscp;
                    // The header that is rewritten stays whole, whatever the size is set to.
                    bit<32> size = settings.trim_bytes < OUTER_BYTES ? OUTER_BYTES : settings.trim_bytes;
                    if (hdr.srh.isValid()) {
                        size = size + ROUTING_BYTES;
                    }
                    if (size < meta.length) {
                        // truncate() counts from the first byte of the frame that leaves.
                        truncate(size);
                        meta.length = size;
                        if ((bit<32>) hdr.ipv6.payload_length > size - OUTER_BYTES) {
                            hdr.ipv6.payload_length = (bit<16>) (size - OUTER_BYTES);
                        }
                    }
                    control_class();
                } else if (settings.ecn == 1 && depth >= settings.ecn_low && hdr.ipv6.ecn != ECN_NOT_ECT
                           && hdr.ipv6.ecn != ECN_CE) {
                    // Marked with (depth - low) / (high - low); from high on always.
                    bit<32> draw = 0;
                    if (depth < settings.ecn_high) {
                        random(draw, settings.ecn_low, settings.ecn_high - 1);
                    }
                    if (depth >= settings.ecn_high || depth > draw) {
                        hdr.ipv6.ecn = ECN_CE;
                        ecn_marked.count((bit<32>) meta.port);
                    }
                }
            }
            if (high == 1) {
                meta.queue = meta.queue | 1;
                limit = settings.high_limit;
                enqueue();
                if (meta.queued == 0) {
                    high_queue_full();
                }
                if (trims == 1) {
                    trimmed.count((bit<32>) meta.port);
                }
            }
        }
    }
}

// Egress: the frame leaves its queue.
control Dequeueing(inout metadata_t meta) {
    bit<32> depth;

    @hidden action dequeue() {
        queue_bytes.read(depth, meta.queue);
        queue_bytes.write(meta.queue, depth - meta.queued);
    }

    apply {
        if (meta.queued != 0) {
            dequeue();
        }
    }
}

#endif  // MRC_QUEUEING_P4
