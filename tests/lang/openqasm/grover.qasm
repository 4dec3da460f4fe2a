OPENQASM 3.0;
include "stdgates.inc";
gate diffuse a, b, c { h a; h b; h c; x a; x b; x c; ctrl(2) @ z a, b, c; x a; x b; x c; h a; h b; h c; }
gate oracle a, b, c { ctrl @ negctrl @ ctrl @ gphase(pi) a, b, c; }
qubit[3] q;
bit[3] c;
h q;
for uint[8] k in {1, 2} {
  oracle q[0], q[1], q[2];
  diffuse q[0], q[1], q[2];
}
c = measure q;
