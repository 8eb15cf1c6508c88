"""Emits `tools/wireshark/mrc.lua`: a Wireshark dissector whose fields and layouts come from the spec."""

from __future__ import annotations

from pymodel.wire import spec
from pymodel.wire.emit.constants import snake

__all__ = ["wireshark"]

_SHOWN = (
    spec.BTH,
    spec.METH,
    spec.TSETH,
    spec.RETH,
    spec.IMMDT,
    spec.AETH,
    spec.SETH,
    spec.CC_STATE,
    spec.NETH,
    spec.PETH,
    spec.ERTH,
    spec.EETH,
    spec.EETH_OP_54,
)
_HEX = {"p_key", "va", "r_key", "immediate", "entropy", "sack_bitmap", "port_status_mask", "syndrome", "opcode"}
_KINDS = {1: "uint8", 2: "uint16", 3: "uint24", 4: "uint32", 8: "uint64"}

_HEAD = """\
-- Wireshark dissector for MRC, the Multipath Reliable Connection.
-- Emitted from pymodel/wire/spec.py by `python -m pymodel.wire.emit`; edit that file.
--
-- Use: tshark -X lua_script:mrc.lua -r FILE, or copy it into Wireshark's folder of personal Lua plugins.

local mrc = Proto("mrc", "Multipath Reliable Connection")
"""

_TAIL = """\
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
"""


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _entry(header: spec.Header, field: spec.Field) -> str:
    bit = header.bit_offset(field.name)
    kind = _KINDS[max(1, -(-field.bits // 8))]
    if field.signed:
        kind = kind.removeprefix("u")
    base = "base.HEX" if field.name in _HEX else "base.DEC"
    names = f", {snake(field.enum.__name__)}" if field.enum else ""
    abbreviation = f"mrc.{header.name.lower()}.{field.name}"
    constructor = f"ProtoField.{kind}({_text(abbreviation)}, {_text(field.name)}, {base}{names})"
    signed = ", signed = true" if field.signed else ""
    return f'    {{ name = "{field.name}", bit = {bit}, bits = {field.bits}{signed}, field = {constructor} }},'


def _layout(header: spec.Header) -> str:
    lines = [f"  {header.name.lower()} = {{", f"    title = {_text(header.title)},", f"    size = {header.size},"]
    lines += [_entry(header, field) for field in header.fields if not field.reserved]
    return "\n".join([*lines, "  },"])


def _extensions() -> str:
    lines = ["local extensions = {"]
    for opcode, headers in spec.EXTENSIONS.items():
        names = ", ".join(_text(header.name.lower()) for header in headers)
        write = "true" if opcode in spec.DATA_OPCODES else "false"
        title = opcode.name if len(opcode.name) == 4 else opcode.name.replace("_", " ").title()
        lines.append(f"  [0x{opcode:02X}] = {{ title = {_text(title)}, write = {write}, {names} }},")
    return "\n".join([*lines, "}"])


def _enumerations() -> str:
    enums = dict.fromkeys(field.enum for header in _SHOWN for field in header.fields if field.enum)
    lines = []
    for enum in enums:
        members = ", ".join(f"[{member.value}] = {_text(member.name)}" for member in enum)
        lines.append(f"local {snake(enum.__name__)} = {{ {members} }}")
    return "\n".join(lines)


def wireshark() -> str:
    """The text of `mrc.lua`."""
    ports = ", ".join(f"[{port}] = true" for port in spec.DEFAULT_OPTIONS.accepted_udp_ports)
    dscp = spec.DscpMap()
    constants = [
        f"local accepted_ports = {{ {ports} }}",
        f"local default_trimmed = {dscp.trimmed}",
        f"local default_trimmed_lasthop = {dscp.trimmed_lasthop}",
        f"local psn_space = {1 << spec.PSN_BITS}",
        f"local icrc_bytes = {spec.ICRC_BYTES}",
        "local nack_reasons = nack_reason",
    ]
    layouts = "\n".join(["local layouts = {", *map(_layout, _SHOWN), "}"])
    return "\n".join([_HEAD, _enumerations(), "", *constants, "", layouts, "", _extensions(), "", _TAIL])
