# SPDX-License-Identifier: Apache-2.0
# make_idx.sh ROWS NAME: writes NAME-images-idx3-ubyte.gz, ROWS pictures of 28 x 28 bytes, and NAME-labels-idx1-ubyte.gz,
# labels 0 and 1, in the current folder. A picture is a blurred spot on the left (0) or on the right (1) at one of many
# heights, with noise; after 2000 pictures they repeat.
set -e
rows=$1 name=$2
be32() { printf "\\$(printf %03o $(($1 >> 24 & 255)))\\$(printf %03o $(($1 >> 16 & 255)))\\$(printf %03o $(($1 >> 8 & 255)))\\$(printf %03o $(($1 & 255)))"; }
LC_ALL=C awk -v n=2000 -v labels="$name.labels" 'BEGIN {
	srand(7)
	for (s = 0; s < n; s++) {
		class = rand() < 0.5; cx = (class ? 19 : 8) + 4 * rand(); cy = 6 + 16 * rand(); size = 10 + 20 * rand()
		for (y = 0; y < 28; y++)
			for (x = 0; x < 28; x++)
				printf "%c", 1 + int(20 * rand() + 230 * exp(-((x - cx) ^ 2 + (y - cy) ^ 2) / size))
		printf "%c", class ? 1 : 0 > labels
	}
}' >"$name.block"
repeat() { left=$(($2 * $3)); while [ $left -gt 0 ]; do head -c $left "$1"; left=$((left - 2000 * $3)); done; }
{ printf '\000\000\010\003'; be32 "$rows"; be32 28; be32 28; repeat "$name.block" "$rows" 784; } | gzip -1 >"$name-images-idx3-ubyte.gz"
{ printf '\000\000\010\001'; be32 "$rows"; repeat "$name.labels" "$rows" 1; } | gzip -1 >"$name-labels-idx1-ubyte.gz"
rm -f "$name.block" "$name.labels"
