# SPDX-License-Identifier: Apache-2.0
# One weight, w = 0.3: the output is cos(x + w), so that every step of training can be foretold.

make_one() {
	cat >one.qcnn <<-'END'
	QCNN 1;
	const int k = 1;
	qubit q;
	input float x;
	param float w = 0.3;
	ry(k*(x + w)) q;
	observe z(q);
	END
}

# train OPTIONS...: trains config.yaml; leaves w.bin and the run's folder.
train() {
	rm -f w.bin
	"$QCNN" train -q -o w.bin "$@" config.yaml 2>err || { sed 's/^/# /' err; return 1; }
}
weight() { "$QCNN" weights show --json w.bin | sed 's/, "metadata".*//; s/.*"values": \[*\([-0-9.e]*\).*/\1/'; }

# near NAME NUMBER NUMBER: equal but for rounding.
near() {
	awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-13 && d > -1e-13) }'
	tap_result $? "$1" || tap_note "$2, expected $3"
}

# trained WEIGHT NAME OPTIONS...: the weight after training.
trained() {
	want=$1 name=$2
	shift 2
	train "$@"
	near "$name" "$(weight)" "$want"
}
