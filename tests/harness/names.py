"""DNS queries and answers: as much of the protocol as a test needs."""

import socket
import struct

ANSWER, UNKNOWN, CUT = 0x8180, 0x8183, 0x0200
KINDS = {1: socket.AF_INET, 28: socket.AF_INET6}


def question(packet):
    """Returns the name and the record type of a query."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode(errors="replace"))
        at += 1 + packet[at]
    return ".".join(labels).lower(), struct.unpack_from("!H", packet, at + 1)[0]


def answer(packet, addresses, most=None):
    """The answer with the addresses of the requested type; None: there is no such name. Above `most` bytes, the client must retry over TCP."""
    _, kind = question(packet)
    family = KINDS.get(kind)
    records = [socket.inet_pton(family, a) for a in addresses or [] if family and (":" in a) == (family == socket.AF_INET6)]
    body = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(record)) + record for record in records)
    flags = UNKNOWN if addresses is None else ANSWER
    if most is not None and len(body) > most:
        flags, records, body = flags | CUT, [], b""
    end = packet.index(b"\0", 12) + 5
    return packet[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + packet[12:end] + body
