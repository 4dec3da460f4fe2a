# SPDX-License-Identifier: Apache-2.0
# Code, messages and manuals use the field's terms: none of the expressions of terms.txt is found in them. Former names
# that are still accepted may stand in lines that say so, with the word former in them or in the line before. And each
# source says what it is.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

terms=$top_srcdir/tests/unit/terms.txt
sed -n 's/^\([^#].*\)	.*/\1/p' "$terms" | paste -s -d '|' - >expression
# matches FOLDER FILE...: places in the files.
matches() {
	(cd "$1" && shift && find "$@" -type f \( -name '*.[chly]' -o -name '*.def' -o -name '*.in' -o -name '*.md' -o -name '*.sh' \
		-o -name '*.yaml' -o -name '*.qcnn' -o -name NEWS -o -name bootstrap -o -name configure.ac \) -print0 |
		xargs -0 grep -HnEiB 1 -f "$OLDPWD/expression") |
		awk '/^--$/ { before = ""; next } /^[^:]*-[0-9]+-/ { before = $0; next }
			tolower(before $0) !~ /former/ { print } { before = $0 }'
}

mkdir -p wrong
printf '%s\n' 'the way back' '/* its former name: shortcut */' 'former' 'slope' 'a fine line' 'nobody reads this' >wrong/x.c
tap_is "$(matches wrong . | cut -d: -f2 | paste -s -d ' ' -)" "1 6" "the expressions are found, but for former names"
matches "$top_srcdir" lang compiler runtime cli man examples README.md CONTRIBUTING.md NEWS bootstrap configure.ac >found
tap_is "$(cat found)" "" "and in no file of the project"

# without_sentence FOLDER...: sources, but generated ones, whose second line is not a sentence about the file.
without_sentence() {
	find "$@" -type f \( -name '*.[chy]' -o -name '*.def' \) -print | sort |
		grep -v -e '^lang/parse\.[ch]$' -e '^lang/scan\.[ch]$' -e '/mpi_build\.h$' |
		xargs awk 'FNR == 2 && !/^ \* ./ { print FILENAME }'
}
printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include "a.h"\n' >wrong/y.c
tap_is "$(without_sentence wrong)" "wrong/x.c
wrong/y.c" "sources without a sentence are seen"
tap_is "$(cd "$top_srcdir" && without_sentence lang compiler runtime cli)" "" "each source begins with a sentence about it"
tap_done
