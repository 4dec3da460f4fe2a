qcnn_asm 1
inputs
  0 "a" float
  1 "psi" state[8]
  2 "x" float[2, 2]
exprs
  %0 = input 0  ; a
  %1 = input 17  ; x[0, 0]
  %2 = input 18  ; x[0, 1]
  %3 = input 19  ; x[1, 0]
  %4 = add %0 %3
matrices
  m0 1 "rx" {  ; per sample
    rx(%4) 0
  }
circuits
  0 "" wires 5 {
    register "q" 0 3
    register "r" 3 2
    state(1) 0 1 2 span 0  ; line 7
    amplitudes(%1, %2) 3 span 1  ; line 8
    m0 0 span 2  ; line 9
    pauli 1 z0
    pauli 1 z1
    pauli 1 z2
    pauli 1 z3
  }
spans
  0: 7 1
  1: 8 1
  2: 9 1
