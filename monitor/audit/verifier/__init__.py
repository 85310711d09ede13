"""Checks an audit export or a proof of `monitor` with nothing but Python (3.9 or later) and the public key of the log.

    python verify.py EXPORT.zip --key 'name+hash+base64' [--witness FILE] [--tsa CA.pem]

EXPORT is the ZIP, the folder to which it was unpacked, or a proof: the file that `monitor audit prove` writes. Do not
take the key from there, nor, where it matters, this program: whoever forges an export can put any key into it. The
witnesses of the log have the key as well.

The program checks that the key signed every checkpoint; that each checkpoint's tree grew out of the one before; that
every record is an unchanged leaf of the last tree; that every disclosed field is what its record committed to; that a
revised record names the record before it; that profiles and rules are those of the log; that the files are those of the
manifest; and that the page for people shows the proved records and nothing else, by making it anew. Where the export
holds statements of completeness, it checks that those of a partition are consecutive, and that every offset at which an
answer of the span was stored has its record. It cannot show that what never reached the topic was recorded, or what
happened in partitions without a statement.

With --witness it compares the checkpoints with those that a witness kept. It reads time stamps (RFC 3161), and finds
whether they are of these checkpoints. The signature of the authority needs `openssl`, which --tsa runs with the
authority's certificate; without it no time stamp is called good. --stamps writes them to a folder, with what was
stamped, for other tools. A receipt of OpenTimestamps is followed to its Bitcoin block; the block is for you to look up.

It names every fault. Exit code: 0 everything is proved, 1 something is not, 2 wrong use.

Sources: RFC 8032 (Ed25519), RFC 8785 (canonical JSON), RFC 9162 (Merkle tree), RFC 3161 (time stamps), C2SP
signed-note, tlog-checkpoint and tlog-cosignature, python-opentimestamps (the form of a receipt).
"""
