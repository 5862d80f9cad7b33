"""XXH3-64 with seed 0. The package `xxhash` computes the same numbers much faster.

Specification: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
"""

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
A1, A2, A3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
B1, B2, B3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
B4, B5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MASK32, MASK64 = 2**32 - 1, 2**64 - 1


def word(data: bytes, at: int, size: int = 8) -> int:
    """A little-endian number in the data."""
    return int.from_bytes(data[at : at + size], "little")


def fold(a: int, b: int) -> int:
    """The exclusive or of the two halves of a product."""
    return (a * b ^ a * b >> 64) & MASK64


def mix(data: bytes, at: int, key: int) -> int:
    """Combines 16 bytes of the data with 16 bytes of the secret."""
    return fold(word(data, at) ^ word(SECRET, key), word(data, at + 8) ^ word(SECRET, key + 8))


def avalanche(h: int) -> int:
    h = ((h & MASK64) ^ (h & MASK64) >> 37) * 0x165667919E3779F9 & MASK64
    return h ^ h >> 32


def avalanche_xxh64(h: int) -> int:
    h = (h ^ h >> 33) * B2 & MASK64
    h = (h ^ h >> 29) * B3 & MASK64
    return h ^ h >> 32


def xxh3_64(data: bytes) -> int:
    """The hash of the data."""
    n = len(data)
    if n > 240:
        return hash_long(data)
    if n > 128:
        h = n * B1 + sum(mix(data, 16 * i, 16 * i) for i in range(8))
        h = avalanche(h) + sum(mix(data, 16 * i, 16 * i - 125) for i in range(8, n // 16))
        return avalanche(h + mix(data, n - 16, 119))
    if n > 16:
        h = n * B1
        for i in range((n + 31) // 32):
            h += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h)
    if n > 8:
        low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
        high = word(data, n - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
        reversed_low = int.from_bytes(low.to_bytes(8, "big"), "little")
        return avalanche(n + reversed_low + high + fold(low, high))
    if n > 3:
        h = word(data, n - 4, 4) + (word(data, 0, 4) << 32) ^ word(SECRET, 8) ^ word(SECRET, 16)
        h ^= (h << 49 | h >> 15) & MASK64 ^ (h << 24 | h >> 40) & MASK64
        h = h * 0x9FB21C651E98DF25 & MASK64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & MASK64
        return h ^ h >> 28
    if n > 0:
        h = data[0] << 16 | data[n // 2] << 24 | data[n - 1] | n << 8
        return avalanche_xxh64(h ^ word(SECRET, 0, 4) ^ word(SECRET, 4, 4))
    return avalanche_xxh64(word(SECRET, 56) ^ word(SECRET, 64))


def hash_long(data: bytes) -> int:
    """The hash of more than 240 bytes: eight sums over stripes of 64 bytes."""
    n = len(data)
    sums = [A3, B1, B2, B3, B4, A2, B5, A1]

    def add(at: int, key: int):
        for i in range(8):
            value = word(data, at + 8 * i)
            mixed = value ^ word(SECRET, key + 8 * i)
            sums[i ^ 1] += value
            sums[i] += (mixed & MASK32) * (mixed >> 32)

    for stripe in range((n - 1) // 64):
        add(64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            for i in range(8):
                h = sums[i] & MASK64
                sums[i] = (h ^ h >> 47 ^ word(SECRET, 128 + 8 * i)) * A1 & MASK64
    add(n - 64, 121)

    def merged(i: int) -> int:
        return fold(*((sums[i + j] & MASK64) ^ word(SECRET, 11 + 8 * (i + j)) for j in range(2)))

    return avalanche(n * B1 + sum(merged(i) for i in range(0, 8, 2)))
