# SPDX-License-Identifier: Apache-2.0
# CONTRIBUTING.md: every folder of sources is in its table. Its walks: every function is defined in its file, and no walk has more than
# 12, or a file twice.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# Lines `walk function file`, the walks counted from 1.
sed -n '/^## Three walks/,/^## [^T]/p' "$top_srcdir/CONTRIBUTING.md" |
	awk -F '`' '/^\| function/ { walk++ } /^\| `/ { print walk, $2, $4 }' >rows
tap_ok "there are walks" test -s rows

# A line at the margin that does not end a declaration: a call is not enough.
while read -r walk function file; do
	grep -Eq "^([a-z].*[ *])?$function\(.*[^;]\$" "$top_srcdir/$file" 2>/dev/null || echo "$function is not in $file"
done <rows >missing
tap_is "$(cat missing)" "" "every function of the walks in CONTRIBUTING.md is defined in its file"
tap_is "$(awk '{ print $1, $3 }' rows | sort | uniq -d)" "" "no walk visits a file twice"
tap_is "$(awk '{ n[$1]++ } END { for (w in n) if (n[w] > 12) print w }' rows)" "" "no walk has more than 12 functions"

sed -n '/^## The folders/,/^## [^T]/p' "$top_srcdir/CONTRIBUTING.md" | sed -n 's/^\(| `[a-z/`, ]*\) |.*/\1/p' | grep -o '[a-z][a-z/]*' | sort >listed
(cd "$top_srcdir" && find lang compiler runtime cli -name '*.[chly]' -o -name '*.cu') | sed 's|/[^/]*$||' | sort -u >folders
tap_is "$(comm -3 folders listed)" "" "the table of folders in CONTRIBUTING.md has each that holds sources, and no other"
tap_done
