-- Wireshark dissector for MRC, the Multipath Reliable Connection.
-- Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
--
-- Use: tshark -X lua_script:mrc.lua -r FILE, or copy it into Wireshark's folder of personal Lua plugins.

local mrc = Proto("mrc", "Multipath Reliable Connection")

local opcode = { [198] = "WRITE_FIRST", [199] = "WRITE_MIDDLE", [200] = "WRITE_LAST", [201] = "WRITE_LAST_IMMEDIATE", [202] = "WRITE_ONLY", [203] = "WRITE_ONLY_IMMEDIATE", [209] = "ACKNOWLEDGE", [216] = "ENDPOINT_REQUEST", [217] = "ENDPOINT_RESPONSE", [220] = "SACK", [221] = "NACK", [222] = "PROBE_REQUEST" }
local ftype = { [0] = "NONE", [1] = "TIMESTAMP" }
local aeth_syndrome = { [31] = "ACK", [96] = "NAK_PSN_SEQUENCE", [97] = "NAK_INVALID_REQUEST", [98] = "NAK_REMOTE_ACCESS", [99] = "NAK_REMOTE_OPERATION" }
local sack_m = { [0] = "NONE", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP" }
local cc_type = { [0] = "NSCC", [2] = "NACK" }
local nack_reason = { [1] = "TRIMMED", [2] = "TRIMMED_LASTHOP", [6] = "NO_BITMAP", [7] = "NO_PKT_BUFFER", [10] = "NO_RESOURCE", [11] = "PSN_OOR_WINDOW", [25] = "UNEXP_EVENT" }
local endpoint_op = { [0] = "PORT_STATUS_UPDATE", [1] = "EV_PROBE" }

local accepted_ports = { [4791] = true, [4971] = true }
local default_trimmed = 12
local default_trimmed_lasthop = 16
local psn_space = 16777216
local icrc_bytes = 4
local nack_reasons = nack_reason

local layouts = {
  bth = {
    title = "Base Transport Header",
    size = 12,
    { name = "opcode", bit = 0, bits = 8, field = ProtoField.uint8("mrc.bth.opcode", "opcode", base.HEX, opcode) },
    { name = "se", bit = 8, bits = 1, field = ProtoField.uint8("mrc.bth.se", "se", base.DEC) },
    { name = "m", bit = 9, bits = 1, field = ProtoField.uint8("mrc.bth.m", "m", base.DEC) },
    { name = "pad_count", bit = 10, bits = 2, field = ProtoField.uint8("mrc.bth.pad_count", "pad_count", base.DEC) },
    { name = "version", bit = 12, bits = 4, field = ProtoField.uint8("mrc.bth.version", "version", base.DEC) },
    { name = "p_key", bit = 16, bits = 16, field = ProtoField.uint16("mrc.bth.p_key", "p_key", base.HEX) },
    { name = "dest_qp", bit = 40, bits = 24, field = ProtoField.uint24("mrc.bth.dest_qp", "dest_qp", base.DEC) },
    { name = "ack_req", bit = 64, bits = 1, field = ProtoField.uint8("mrc.bth.ack_req", "ack_req", base.DEC) },
    { name = "rtx", bit = 66, bits = 1, field = ProtoField.uint8("mrc.bth.rtx", "rtx", base.DEC) },
    { name = "ts", bit = 67, bits = 1, field = ProtoField.uint8("mrc.bth.ts", "ts", base.DEC) },
    { name = "psn", bit = 72, bits = 24, field = ProtoField.uint24("mrc.bth.psn", "psn", base.DEC) },
  },
  meth = {
    title = "Message Extended Transport Header",
    size = 4,
    { name = "rqmsn", bit = 0, bits = 16, field = ProtoField.uint16("mrc.meth.rqmsn", "rqmsn", base.DEC) },
    { name = "msn", bit = 16, bits = 16, field = ProtoField.uint16("mrc.meth.msn", "msn", base.DEC) },
  },
  tseth = {
    title = "Timestamp Extended Transport Header",
    size = 4,
    { name = "tx_timestamp", bit = 0, bits = 16, field = ProtoField.uint16("mrc.tseth.tx_timestamp", "tx_timestamp", base.DEC) },
    { name = "tsr", bit = 16, bits = 1, field = ProtoField.uint8("mrc.tseth.tsr", "tsr", base.DEC) },
    { name = "ftype", bit = 28, bits = 4, field = ProtoField.uint8("mrc.tseth.ftype", "ftype", base.DEC, ftype) },
  },
  reth = {
    title = "RDMA Extended Transport Header",
    size = 16,
    { name = "va", bit = 0, bits = 64, field = ProtoField.uint64("mrc.reth.va", "va", base.HEX) },
    { name = "r_key", bit = 64, bits = 32, field = ProtoField.uint32("mrc.reth.r_key", "r_key", base.HEX) },
    { name = "dma_length", bit = 96, bits = 32, field = ProtoField.uint32("mrc.reth.dma_length", "dma_length", base.DEC) },
  },
  immdt = {
    title = "Immediate Data",
    size = 4,
    { name = "immediate", bit = 0, bits = 32, field = ProtoField.uint32("mrc.immdt.immediate", "immediate", base.HEX) },
  },
  aeth = {
    title = "Acknowledge Extended Transport Header",
    size = 4,
    { name = "syndrome", bit = 0, bits = 8, field = ProtoField.uint8("mrc.aeth.syndrome", "syndrome", base.HEX, aeth_syndrome) },
    { name = "msn", bit = 8, bits = 24, field = ProtoField.uint24("mrc.aeth.msn", "msn", base.DEC) },
  },
  seth = {
    title = "SACK Extended Transport Header",
    size = 28,
    { name = "header_type", bit = 0, bits = 4, field = ProtoField.uint8("mrc.seth.header_type", "header_type", base.DEC) },
    { name = "nxt", bit = 4, bits = 5, field = ProtoField.uint8("mrc.seth.nxt", "nxt", base.DEC) },
    { name = "m", bit = 9, bits = 2, field = ProtoField.uint8("mrc.seth.m", "m", base.DEC, sack_m) },
    { name = "pr", bit = 14, bits = 1, field = ProtoField.uint8("mrc.seth.pr", "pr", base.DEC) },
    { name = "ack_psn_offset", bit = 16, bits = 16, signed = true, field = ProtoField.int16("mrc.seth.ack_psn_offset", "ack_psn_offset", base.DEC) },
    { name = "entropy", bit = 32, bits = 32, field = ProtoField.uint32("mrc.seth.entropy", "entropy", base.HEX) },
    { name = "spdcid", bit = 64, bits = 16, field = ProtoField.uint16("mrc.seth.spdcid", "spdcid", base.DEC) },
    { name = "dpdcid", bit = 80, bits = 16, field = ProtoField.uint16("mrc.seth.dpdcid", "dpdcid", base.DEC) },
    { name = "cack_psn", bit = 104, bits = 24, field = ProtoField.uint24("mrc.seth.cack_psn", "cack_psn", base.DEC) },
    { name = "cc_type", bit = 128, bits = 4, field = ProtoField.uint8("mrc.seth.cc_type", "cc_type", base.DEC, cc_type) },
    { name = "cc_fl", bit = 132, bits = 4, field = ProtoField.uint8("mrc.seth.cc_fl", "cc_fl", base.DEC) },
    { name = "mpr", bit = 136, bits = 8, field = ProtoField.uint8("mrc.seth.mpr", "mpr", base.DEC) },
    { name = "sack_offset", bit = 144, bits = 16, signed = true, field = ProtoField.int16("mrc.seth.sack_offset", "sack_offset", base.DEC) },
    { name = "sack_bitmap", bit = 160, bits = 64, field = ProtoField.uint64("mrc.seth.sack_bitmap", "sack_bitmap", base.HEX) },
  },
  cc_state = {
    title = "Congestion control state, behind SETH",
    size = 8,
    { name = "tx_timestamp", bit = 0, bits = 16, field = ProtoField.uint16("mrc.cc_state.tx_timestamp", "tx_timestamp", base.DEC) },
    { name = "ooo_count", bit = 17, bits = 15, field = ProtoField.uint16("mrc.cc_state.ooo_count", "ooo_count", base.DEC) },
    { name = "restore_cwnd", bit = 32, bits = 1, field = ProtoField.uint8("mrc.cc_state.restore_cwnd", "restore_cwnd", base.DEC) },
    { name = "rcv_cwnd_pen", bit = 33, bits = 7, field = ProtoField.uint8("mrc.cc_state.rcv_cwnd_pen", "rcv_cwnd_pen", base.DEC) },
    { name = "rcvd_bytes", bit = 40, bits = 24, field = ProtoField.uint24("mrc.cc_state.rcvd_bytes", "rcvd_bytes", base.DEC) },
  },
  neth = {
    title = "NACK Extended Transport Header",
    size = 20,
    { name = "header_type", bit = 0, bits = 4, field = ProtoField.uint8("mrc.neth.header_type", "header_type", base.DEC) },
    { name = "nxt", bit = 4, bits = 5, field = ProtoField.uint8("mrc.neth.nxt", "nxt", base.DEC) },
    { name = "reason", bit = 16, bits = 8, field = ProtoField.uint8("mrc.neth.reason", "reason", base.DEC, nack_reason) },
    { name = "vendor_info", bit = 24, bits = 8, field = ProtoField.uint8("mrc.neth.vendor_info", "vendor_info", base.DEC) },
    { name = "entropy", bit = 32, bits = 32, field = ProtoField.uint32("mrc.neth.entropy", "entropy", base.HEX) },
    { name = "spdcid", bit = 64, bits = 16, field = ProtoField.uint16("mrc.neth.spdcid", "spdcid", base.DEC) },
    { name = "dpdcid", bit = 80, bits = 16, field = ProtoField.uint16("mrc.neth.dpdcid", "dpdcid", base.DEC) },
    { name = "nack_psn", bit = 104, bits = 24, field = ProtoField.uint24("mrc.neth.nack_psn", "nack_psn", base.DEC) },
    { name = "cc_type", bit = 128, bits = 4, field = ProtoField.uint8("mrc.neth.cc_type", "cc_type", base.DEC, cc_type) },
    { name = "cc_fl", bit = 132, bits = 4, field = ProtoField.uint8("mrc.neth.cc_fl", "cc_fl", base.DEC) },
    { name = "tx_timestamp", bit = 144, bits = 16, field = ProtoField.uint16("mrc.neth.tx_timestamp", "tx_timestamp", base.DEC) },
  },
  peth = {
    title = "Probe Extended Transport Header",
    size = 16,
    { name = "header_type", bit = 0, bits = 4, field = ProtoField.uint8("mrc.peth.header_type", "header_type", base.DEC) },
    { name = "nxt", bit = 4, bits = 5, field = ProtoField.uint8("mrc.peth.nxt", "nxt", base.DEC) },
    { name = "vendor_info", bit = 24, bits = 8, field = ProtoField.uint8("mrc.peth.vendor_info", "vendor_info", base.DEC) },
    { name = "probe_id", bit = 32, bits = 16, field = ProtoField.uint16("mrc.peth.probe_id", "probe_id", base.DEC) },
    { name = "spdcid", bit = 64, bits = 16, field = ProtoField.uint16("mrc.peth.spdcid", "spdcid", base.DEC) },
    { name = "dpdcid", bit = 80, bits = 16, field = ProtoField.uint16("mrc.peth.dpdcid", "dpdcid", base.DEC) },
    { name = "tx_timestamp", bit = 96, bits = 16, field = ProtoField.uint16("mrc.peth.tx_timestamp", "tx_timestamp", base.DEC) },
    { name = "tsr", bit = 112, bits = 1, field = ProtoField.uint8("mrc.peth.tsr", "tsr", base.DEC) },
    { name = "ftype", bit = 124, bits = 4, field = ProtoField.uint8("mrc.peth.ftype", "ftype", base.DEC, ftype) },
  },
  erth = {
    title = "Endpoint Request Extended Transport Header",
    size = 16,
    { name = "op", bit = 14, bits = 2, field = ProtoField.uint8("mrc.erth.op", "op", base.DEC, endpoint_op) },
    { name = "vendor_info", bit = 24, bits = 8, field = ProtoField.uint8("mrc.erth.vendor_info", "vendor_info", base.DEC) },
    { name = "port_status_mask", bit = 32, bits = 32, field = ProtoField.uint32("mrc.erth.port_status_mask", "port_status_mask", base.HEX) },
    { name = "tx_timestamp", bit = 96, bits = 16, field = ProtoField.uint16("mrc.erth.tx_timestamp", "tx_timestamp", base.DEC) },
    { name = "tsr", bit = 112, bits = 1, field = ProtoField.uint8("mrc.erth.tsr", "tsr", base.DEC) },
    { name = "ftype", bit = 124, bits = 4, field = ProtoField.uint8("mrc.erth.ftype", "ftype", base.DEC, ftype) },
  },
  eeth = {
    title = "Endpoint Response Extended Transport Header",
    size = 36,
    { name = "op", bit = 12, bits = 2, field = ProtoField.uint8("mrc.eeth.op", "op", base.DEC, endpoint_op) },
    { name = "tx_timestamp", bit = 224, bits = 16, field = ProtoField.uint16("mrc.eeth.tx_timestamp", "tx_timestamp", base.DEC) },
  },
  eeth_op_54 = {
    title = "Endpoint Response Extended Transport Header",
    size = 36,
    { name = "op", bit = 10, bits = 2, field = ProtoField.uint8("mrc.eeth_op_54.op", "op", base.DEC, endpoint_op) },
    { name = "tx_timestamp", bit = 224, bits = 16, field = ProtoField.uint16("mrc.eeth_op_54.tx_timestamp", "tx_timestamp", base.DEC) },
  },
}

local extensions = {
  [0xC6] = { title = "Write First", write = true, "meth", "tseth", "reth" },
  [0xC7] = { title = "Write Middle", write = true, "meth", "tseth", "reth" },
  [0xC8] = { title = "Write Last", write = true, "meth", "tseth", "reth" },
  [0xC9] = { title = "Write Last Immediate", write = true, "meth", "tseth", "reth", "immdt" },
  [0xCA] = { title = "Write Only", write = true, "meth", "tseth", "reth" },
  [0xCB] = { title = "Write Only Immediate", write = true, "meth", "tseth", "reth", "immdt" },
  [0xD1] = { title = "Acknowledge", write = false, "aeth" },
  [0xD8] = { title = "Endpoint Request", write = false, "erth" },
  [0xD9] = { title = "Endpoint Response", write = false, "eeth" },
  [0xDC] = { title = "SACK", write = false, "seth", "cc_state" },
  [0xDD] = { title = "NACK", write = false, "neth" },
  [0xDE] = { title = "Probe Request", write = false, "peth" },
}

local pref = mrc.prefs
pref.trimmed = Pref.uint("DSCP TRIMMED", default_trimmed, "Outer DSCP of a packet that a switch trimmed")
pref.trimmed_lasthop =
  Pref.uint("DSCP TRIMMED_LASTHOP", default_trimmed_lasthop, "The same, trimmed at the last hop")
pref.source_port_high =
  Pref.bool("EV[31:16] in the UDP source port", false, "Otherwise EV[31:16] is in the flow label")
pref.eeth_op_54 = Pref.bool("EETH op in bits 5:4", false, "Otherwise in bits 3:2 of byte 1")

local ev = ProtoField.uint32("mrc.ev", "Entropy value", base.HEX)
local base_psn = ProtoField.uint24("mrc.seth.base_psn", "Bitmap base PSN", base.DEC)
local trigger_psn = ProtoField.uint24("mrc.seth.trigger_psn", "Triggering PSN", base.DEC)
local trimmed = ProtoField.string("mrc.trimmed", "Trimmed")
local payload_length = ProtoField.uint32("mrc.payload_length", "Payload bytes", base.DEC)
local payload = ProtoField.bytes("mrc.payload", "Payload")
local icrc = ProtoField.uint32("mrc.icrc", "ICRC", base.HEX)

local all_fields = { ev, base_psn, trigger_psn, trimmed, payload_length, payload, icrc }
for _, layout in pairs(layouts) do
  for _, entry in ipairs(layout) do
    all_fields[#all_fields + 1] = entry.field
  end
end
mrc.fields = all_fields

local flow_label = Field.new("ipv6.flow")
local dscp_6 = Field.new("ipv6.tclass.dscp")
local dscp_4 = Field.new("ip.dsfield.dscp")

local function last(...)
  return (select(select("#", ...), ...))
end

-- Shows one header and returns its fields by name, or nil when the frame ends before it does.
local function show(layout, tvb, at, tree)
  if tvb:len() < at + layout.size then
    tree:add(tvb(at), layout.title .. " (cut off)")
    return nil
  end
  local subtree = tree:add(mrc, tvb(at, layout.size), layout.title)
  local values = {}
  for _, entry in ipairs(layout) do
    local first = math.floor(entry.bit / 8)
    local range = tvb(at + first, math.floor((entry.bit + entry.bits + 7) / 8) - first)
    local value
    if entry.bits == 64 then
      value = range:uint64()
    else
      value = range:bitfield(entry.bit % 8, entry.bits)
      if entry.signed and value >= 2 ^ (entry.bits - 1) then
        value = value - 2 ^ entry.bits
      end
    end
    subtree:add(entry.field, range, value)
    values[entry.name] = value
  end
  return values, subtree
end

local function trim_mark()
  local mark = dscp_6() or dscp_4()
  if mark == nil then
    return nil
  end
  if mark.value == pref.trimmed then
    return "TRIMMED"
  elseif mark.value == pref.trimmed_lasthop then
    return "TRIMMED_LASTHOP"
  end
  return nil
end

local function is_mrc(tvb)
  return tvb:len() >= layouts.bth.size and extensions[tvb(0, 1):uint()] ~= nil
end

function mrc.dissector(tvb, pinfo, tree)
  if not is_mrc(tvb) then
    return 0
  end
  local size = tvb:len()
  local bodies = extensions[tvb(0, 1):uint()]
  pinfo.cols.protocol = "MRC"
  local root = tree:add(mrc, tvb())
  local bth = show(layouts.bth, tvb, 0, root)

  local value = pinfo.src_port
  local label = flow_label() and last(flow_label()).value % 65536 or nil
  if label and pref.source_port_high then
    value = value * 65536 + label
  elseif label then
    value = label * 65536 + value
  end
  root:add(ev, value):set_generated()

  local mark = bodies.write and trim_mark() or nil
  local at = layouts.bth.size
  local info = string.format("%s QP=%d PSN=%d EV=0x%08x", bodies.title, bth.dest_qp, bth.psn, value)
  for _, name in ipairs(bodies) do
    if name ~= "tseth" or bth.ts == 1 then
      if name == "eeth" and pref.eeth_op_54 then
        name = "eeth_op_54"
      end
      local fields, subtree = show(layouts[name], tvb, at, root)
      if fields == nil then
        break
      end
      at = at + layouts[name].size
      if name == "seth" then
        local cumulative = fields.cack_psn
        local bitmap_base = (cumulative + fields.sack_offset) % psn_space
        subtree:add(base_psn, bitmap_base):set_generated()
        if fields.pr == 0 then
          subtree:add(trigger_psn, (cumulative + fields.ack_psn_offset) % psn_space):set_generated()
        end
        info = info .. string.format(" base=%d bitmap=0x%s", bitmap_base, fields.sack_bitmap:tohex())
      elseif name == "neth" then
        info = info .. " " .. (nack_reasons[fields.reason] or string.format("reason 0x%02x", fields.reason))
      end
    end
  end

  if mark then
    root:add(trimmed, mark):set_generated()
    info = info .. " " .. mark
  elseif size >= at + icrc_bytes then
    local tail = size - icrc_bytes
    local bytes = math.max(0, tail - at - bth.pad_count)
    if bodies.write then
      root:add(payload_length, bytes):set_generated()
      if bytes > 0 then
        root:add(payload, tvb(at, bytes))
      end
    end
    root:add_le(icrc, tvb(tail, icrc_bytes))
  end
  pinfo.cols.info = info
  return size
end

-- UDP asks for the dissector of its lower port first, so an EV that looks like the port of DNS or VXLAN would win over
-- MRC's destination port. Whoever holds another port is therefore asked only when the destination is not MRC's.
local udp_ports = DissectorTable.get("udp.port")
local originals = {}
for port = 0, 65535 do
  originals[port] = udp_ports:get_dissector(port)
end

local by_destination = Proto("mrc_by_destination", "MRC by UDP destination port")
function by_destination.dissector(tvb, pinfo, tree)
  if accepted_ports[pinfo.dst_port] and is_mrc(tvb) then
    return mrc.dissector:call(tvb, pinfo, tree)
  end
  local original = originals[pinfo.match]
  return original and original:call(tvb, pinfo, tree) or 0
end

for port in pairs(originals) do
  udp_ports:add(port, by_destination)
end
for port in pairs(accepted_ports) do
  udp_ports:add(port, by_destination)
end
