# SPDX-License-Identifier: Apache-2.0
# TCP ports for the tests that must name a port before anybody listens at it. Usage: source tap.sh and this.

# take_ports: leaves in $port the first of 63 ports in a row, which are this test's until it ends (ports.c says what nobody
# else does with them).
take_ports() {
	"$top_builddir/tests/net/ports" >ports 9>&- &
	tap_until '[ -s ports ] || ! kill -0 $!'
	port=$(cat ports)
	rm -f ports
	[ -n "$port" ]
}
