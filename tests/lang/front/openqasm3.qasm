OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
def f(int[32] n) -> int { return n; }
extern g(int) -> int;
box[100ns] { x q[0]; }
delay[10dt] q[0];
cal { frame f = newframe(d0, 5.2e9); }
defcal x $0 { play(drive($0), 3); }
while (c == 0) { h q[0]; c[0] = measure q[0]; }
bool b = true;
array[int[8], 4] a;
output bit r;
switch (1) { case 1 { x q[0]; } }
duration t = 10ns;
for int i in [0:1] { x q[i]; }
if (c[0] && c[1]) { x q[0]; } else { y q[0]; }
int[32] k = c;
input int[32] n;
rx(1/2) q[0];
