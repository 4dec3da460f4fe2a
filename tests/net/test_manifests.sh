#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manifests of examples/kubernetes: valid by Kubernetes' own schemas (of the Python package kubernetes-validate), with
# the fields that its reference requires, and with numbers, names and options that fit each other and qcnn.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

manifest=$top_srcdir/examples/kubernetes/train.yaml

# ---- its own schemas ----
cat >validate.py <<'END'
import sys, yaml, kubernetes_validate
def judge(path):
    kinds = []
    with open(path) as f:
        for one in yaml.safe_load_all(f):
            for version in (kubernetes_validate.latest_version(), "1.31"):
                try:
                    kubernetes_validate.validate(one, version, strict=True)
                except kubernetes_validate.ValidationError as e:
                    return "%s, Kubernetes %s: %s: %s" % (one["kind"], version, "/".join(map(str, e.path)), e.message.split("\n")[0])
            kinds.append(one["kind"])
    return "valid: " + " ".join(kinds)
for path in sys.argv[1:]:
    print(path.rsplit("/", 1)[-1] + ": " + judge(path))
END
if python3 -c 'import yaml, kubernetes_validate' 2>/dev/null; then
	sed 's/completions:/completion:/' "$manifest" >no-field.yaml
	sed 's/containerPort: 29500/containerPort: many/' "$manifest" >no-number.yaml
	sed '/^spec:$/d' "$manifest" >no-spec.yaml
	python3 validate.py "$manifest" no-field.yaml no-number.yaml no-spec.yaml >judged 2>&1
	tap_has judged "train.yaml: valid: Service PersistentVolumeClaim Job" "Kubernetes takes it"
	for slip in no-field no-number no-spec; do
		tap_ok "but not $slip" sh -c "grep -q '^$slip.yaml: ' judged && ! grep -q '^$slip.yaml: valid' judged"
	done
else
	tap_skip "the Python package kubernetes-validate is not installed"
fi

# ---- what the reference requires ----
# part KIND: that document.
part() { awk -v kind="$1" 'BEGIN { RS = "---\n" } $0 ~ "\nkind: " kind "\n" || $0 ~ "^kind: " kind "\n" { print }' "$manifest"; }
has() { # KIND FIELD...
	part $1 >one
	kind=$1
	shift
	for field; do grep -Eq "(^|[ {-])$field:" one || { tap_result 1 "$kind has $field"; continue; }; done
	tap_ok "$kind has $*" [ -s one ]
}
has Service apiVersion kind metadata name clusterIP selector ports port
has PersistentVolumeClaim apiVersion kind metadata name accessModes resources requests storage
has Job apiVersion kind metadata name completionMode completions parallelism template restartPolicy containers image args env volumeMounts mountPath volumes

# ---- what has to fit ----
value() { sed -n "s/^ *-* *$1: *//p" one | head -1 | tr -d '"'; }
tap_is "$(value completionMode)" Indexed "each pod has a number"
tap_is "$(value completions) $(value parallelism)" "$(sed -n '/name: WORLD_SIZE/{n;s/.*value: *"\(.*\)"/\1/p;}' one | sed 's/.*/& &/')" "completions and parallelism are WORLD_SIZE"
tap_is "$(value restartPolicy)" Never "podFailurePolicy needs restartPolicy: Never"
tap_is "$(value succeededIndexes)" 0 "the Job has succeeded when pod 0 has"
tap_is "$(awk '/action: Ignore/ { getline; getline; print $3 }' one)" DisruptionTarget, "pods that are preempted are no failures"
port=$(sed -n 's/.*JOIN_PORT = \([0-9]*\).*/\1/p' "$top_srcdir/runtime/net/launch/join.h")
tap_is "$(value containerPort) $(part Service | sed -n 's/^ *-* *port: *//p')" "$port $port" "the port is the one that others look at"
tap_is "$(value subdomain)" "$(part Service | awk '/^  name:/ { print $2; exit }')" "the Job's subdomain is the Service"
tap_is "$(part Service | sed -n 's/^ *job-name: *//p')" "$(awk '/^  name:/ { print $2; exit }' one)" "which selects the Job's pods"
tap_is "$(value claimName)" "$(part PersistentVolumeClaim | awk '/^  name:/ { print $2; exit }')" "the claim is the one that is made"
"$QCNN" train --help >help 2>&1
for option in $(grep 'args:' one | grep -o -- '--[a-z-]*'); do
	tap_ok "qcnn train knows $option" grep -q -- "$option\b" help
done
for status in $(sed -n 's/.*values: \[\(.*\)\].*/\1/p' one | tr -d ,); do
	tap_ok "exit status $status is one of qcnn, and not 75" sh -c "[ $status != 75 ] && grep -Eq ', *$status,' '$top_srcdir/runtime/base/err.def'"
done
tap_done
