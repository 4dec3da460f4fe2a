# SPDX-License-Identifier: Apache-2.0
# The language, sentence by sentence: the cases of language.txt, whose head says how to read them.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
run() { "$QCNN" run -q --precision=double --format=csv "$@"; }

awk '
function start(file) { close(to); to = file; begun = 0 }
/^#/ || /^$/ { next }
/^==/ { n++; name = sprintf("%03d", n); start(name ".qcnn"); print substr($0, 4) >(name ".name"); close(name ".name"); next }
/^--/ { print substr($0, 4) >(name ".want"); if ($2 == "same") start(name ".same.qcnn"); next }
/^,,/ { print substr($0, 4) >(name ".csv"); next }
!begun && !/^OPENQASM/ { print "QCNN 1;" >to }
{ begun = 1; print >to }
' "$top_srcdir/tests/lang/language.txt"

# The columns from a given one on, of all samples, on one line.
values() { awk -F, 'NR > 1 { for (i = from; i <= NF; i++) printf "%s ", $i } END { print "" }' from="$1"; }

# close_to WANTED <VALUES: equal numbers of numbers, each pair within 1e-12.
close_to() {
	awk -v want="$1" '
	function abs(x) { return x < 0 ? -x : x }
	{ for (i = 1; i <= NF; i++) got[++n] = $i }
	END {
		m = split(want, w, " ")
		bad = m != n
		for (i = 1; i <= m && i <= n; i++) if (!(abs(got[i] - w[i]) <= 1e-12)) bad = 1
		if (bad) { printf "got      "; for (i = 1; i <= n; i++) printf " %s", got[i]; print ""; print "expected  " want }
		exit bad
	}'
}

for name in *.name; do
	n=${name%.name}
	title=$(cat "$name")
	data=
	[ ! -f "$n.csv" ] || data=--data=$n.csv
	while read -r kind rest; do
		case $kind in
		outputs|readouts)
			run $data --emit="$kind" "$n.qcnn" >got 2>err; values 2 <got | close_to "$rest" >difference ;;
		jacobian|readout-jacobian)
			run $data --emit="$kind" "$n.qcnn" >got 2>err; values 3 <got | close_to "$rest" >difference ;;
		state|probabilities)
			run $data --emit=$kind "$n.qcnn" >got 2>err; values 3 <got | close_to "$rest" >difference ;;
		same)
			run $data --emit=state "$n.same.qcnn" >got 2>err
			want=$(values 3 <got)
			[ -n "$want" ] && run $data --emit=state "$n.qcnn" 2>>err | values 3 | close_to "$want" >difference ;;
		params)
			# Paths, shapes and initialisers, in order.
			"$QCNN" check "$n.qcnn" >got 2>err
			sed -n 's/^param  *//p' got | paste -sd ';' | sed 's/;/; /g' >params
			[ "$(cat params)" = "$rest" ] || { cp params difference; false; } ;;
		none)
			"$QCNN" check $rest "$n.qcnn" >got 2>err && [ ! -s err ] ;;
		*)
			# A diagnostic: severity, code, place, a part of its text.
			"$QCNN" check --error-format=short "$n.qcnn" >got 2>err
			code=${rest%% *}; rest=${rest#* }
			place=${rest%% *}
			text=; [ "$place" = "$rest" ] || text=${rest#* }
			grep -F "$n.qcnn:$place: $kind[$code]" err | grep -F -q -e "$text" ;;
		esac
		tap_result $? "$title" || { sed 's/^/# /' "$n.qcnn" difference err; }
		: >difference
	done <"$n.want"
done
tap_done
