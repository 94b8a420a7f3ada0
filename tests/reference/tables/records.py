"""Records of a text table, one byte at a time: what a line end, a quote, a first byte does."""


def records(data, delimiter=",", quotes=True, empty=False, last=True):
    """The bytes of whole records that count, and how many bytes they and the others are."""
    found, start, at, fresh, quoted = [], 0, 0, True, False
    while at < len(data):
        byte, after = data[at : at + 1], data[at + 1 : at + 2]
        at += 1
        if quoted:
            if byte == b'"' and after == b'"':
                at += 1
            elif byte == b'"':
                quoted = False
        elif byte == b'"' and fresh and quotes:
            quoted, fresh = True, False
        elif byte in b"\r\n":
            if byte == b"\r" and not after and not last:
                return found, start
            at += byte + after == b"\r\n"
            record = data[start:at]
            if empty or record.strip(b"\r\n"):
                found.append(record)
            start, fresh = at, True
        else:
            fresh = byte == delimiter.encode()
    if last and start < len(data) and not quoted:
        found.append(data[start:])
        start = len(data)
    return found, start
