# SPDX-License-Identifier: Apache-2.0
# The pages that are filled from tables are what the program cli/manual/manual writes now.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

manual=$top_builddir/cli/manual/manual
if ! "$manual" "$top_srcdir/man/qcnn.1.in" >/dev/null 2>&1; then
	tap_skip "the program that writes the pages does not run here"
	tap_done
fi
for page in "$top_srcdir"/man/*.in; do
	name=$(basename "$page" .in)
	tap_exit 0 "$name" "$manual" "$page"
	built=$top_builddir/man/$name
	[ -e "$built" ] || built=$top_srcdir/man/$name
	tap_same out "$built" "is the page that was built"
done
tap_done
