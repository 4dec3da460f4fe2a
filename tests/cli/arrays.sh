# SPDX-License-Identifier: Apache-2.0
# Arrays written by hand: numbers are bytes (numbers of 0 to 255), so that the shell can write them.

byte() { printf "\\$(printf %03o "$1")"; }
bytes() { for b in "$@"; do byte "$b"; done; }
be32() { bytes 0 0 $(($1 / 256)) $(($1 % 256)); }
le16() { bytes $(($1 % 256)) $(($1 / 256)); }
le32() { le16 $(($1 % 65536)); le16 $(($1 / 65536)); }

# npy TYPE SHAPE: the header; the numbers follow.
npy() {
	printf '\223NUMPY\001\000'
	le16 118
	printf '%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
}

# npz ARCHIVE NAME...: NAME.npy stored, one behind the other.
npz() {
	archive=$1 at=0 count=0
	shift
	: >"$archive"
	: >directory
	for name in "$@"; do
		size=$(wc -c <"$name.npy")
		{
			le16 20; le16 0; le16 0; le16 0; le16 33
			gzip -c "$name.npy" | tail -c 8 | head -c 4
			le32 "$size"; le32 "$size"; le16 $((${#name} + 4)); le16 0
		} >common
		{ printf 'PK\003\004'; cat common; printf '%s.npy' "$name"; cat "$name.npy"; } >>"$archive"
		{ printf 'PK\001\002'; le16 20; cat common; le16 0; le16 0; le16 0; le32 0; le32 $at; printf '%s.npy' "$name"; } >>directory
		at=$(wc -c <"$archive")
		count=$((count + 1))
	done
	cat directory >>"$archive"
	{ printf 'PK\005\006'; le16 0; le16 0; le16 $count; le16 $count; le32 "$(wc -c <directory)"; le32 "$at"; le16 0; } >>"$archive"
}
