# SPDX-License-Identifier: Apache-2.0
# near NAME WANTED...: the numbers in the file out, after "schema": 1, are these, to less than $within. Goes to a test that sets $within.
near() {
	point=$1
	shift
	sed 's/"schema": 1//' out | grep -o '[-0-9.][-0-9.e]*' >got
	printf '%s\n' "$@" >want
	paste got want >both
	tap_ok "$point" awk -v within="$within" 'NF != 2 || ($1 - $2) ^ 2 > within ^ 2 { print; exit 1 }' both
}
