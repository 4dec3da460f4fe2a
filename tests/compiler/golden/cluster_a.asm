qcnn_asm 1
weights
  0 "conv[0].t" float[15] ~ uniform(0, 6.283185307179586)  ; weights 0 to 14
  1 "pool[0].t" float[6] ~ uniform(0, 6.283185307179586)  ; weights 15 to 20
  2 "conv[1].t" float[15] ~ uniform(0, 6.283185307179586)  ; weights 21 to 35
  3 "pool[1].t" float[6] ~ uniform(0, 6.283185307179586)  ; weights 36 to 41
  4 "conv[2].t" float[15] ~ uniform(0, 6.283185307179586)  ; weights 42 to 56
  5 "pool[2].t" float[6] ~ uniform(0, 6.283185307179586)  ; weights 57 to 62
inputs
  0 "x" float[8]
exprs
  %0 = input 0  ; x[0]
  %1 = input 1  ; x[1]
  %2 = input 2  ; x[2]
  %3 = input 3  ; x[3]
  %4 = input 4  ; x[4]
  %5 = input 5  ; x[5]
  %6 = input 6  ; x[6]
  %7 = input 7  ; x[7]
  %8 = weight 0  ; conv[0].t[0]
  %9 = weight 1  ; conv[0].t[1]
  %10 = weight 2  ; conv[0].t[2]
  %11 = weight 3  ; conv[0].t[3]
  %12 = weight 4  ; conv[0].t[4]
  %13 = weight 5  ; conv[0].t[5]
  %14 = weight 6  ; conv[0].t[6]
  %15 = weight 7  ; conv[0].t[7]
  %16 = weight 8  ; conv[0].t[8]
  %17 = weight 9  ; conv[0].t[9]
  %18 = weight 10  ; conv[0].t[10]
  %19 = weight 11  ; conv[0].t[11]
  %20 = weight 12  ; conv[0].t[12]
  %21 = weight 13  ; conv[0].t[13]
  %22 = weight 14  ; conv[0].t[14]
  %23 = weight 15  ; pool[0].t[0]
  %24 = weight 16  ; pool[0].t[1]
  %25 = weight 17  ; pool[0].t[2]
  %26 = weight 18  ; pool[0].t[3]
  %27 = weight 19  ; pool[0].t[4]
  %28 = weight 20  ; pool[0].t[5]
  %29 = weight 21  ; conv[1].t[0]
  %30 = weight 22  ; conv[1].t[1]
  %31 = weight 23  ; conv[1].t[2]
  %32 = weight 24  ; conv[1].t[3]
  %33 = weight 25  ; conv[1].t[4]
  %34 = weight 26  ; conv[1].t[5]
  %35 = weight 27  ; conv[1].t[6]
  %36 = weight 28  ; conv[1].t[7]
  %37 = weight 29  ; conv[1].t[8]
  %38 = weight 30  ; conv[1].t[9]
  %39 = weight 31  ; conv[1].t[10]
  %40 = weight 32  ; conv[1].t[11]
  %41 = weight 33  ; conv[1].t[12]
  %42 = weight 34  ; conv[1].t[13]
  %43 = weight 35  ; conv[1].t[14]
  %44 = weight 36  ; pool[1].t[0]
  %45 = weight 37  ; pool[1].t[1]
  %46 = weight 38  ; pool[1].t[2]
  %47 = weight 39  ; pool[1].t[3]
  %48 = weight 40  ; pool[1].t[4]
  %49 = weight 41  ; pool[1].t[5]
  %50 = weight 42  ; conv[2].t[0]
  %51 = weight 43  ; conv[2].t[1]
  %52 = weight 44  ; conv[2].t[2]
  %53 = weight 45  ; conv[2].t[3]
  %54 = weight 46  ; conv[2].t[4]
  %55 = weight 47  ; conv[2].t[5]
  %56 = weight 48  ; conv[2].t[6]
  %57 = weight 49  ; conv[2].t[7]
  %58 = weight 50  ; conv[2].t[8]
  %59 = weight 51  ; conv[2].t[9]
  %60 = weight 52  ; conv[2].t[10]
  %61 = weight 53  ; conv[2].t[11]
  %62 = weight 54  ; conv[2].t[12]
  %63 = weight 55  ; conv[2].t[13]
  %64 = weight 56  ; conv[2].t[14]
  %65 = weight 57  ; pool[2].t[0]
  %66 = weight 58  ; pool[2].t[1]
  %67 = weight 59  ; pool[2].t[2]
  %68 = weight 60  ; pool[2].t[3]
  %69 = weight 61  ; pool[2].t[4]
  %70 = weight 62  ; pool[2].t[5]
matrices
  m0 1 "h" {  ; constant
    h 0
  }
  m1 1 "z" {  ; constant, diagonal
    z 0
  }
  m2 1 "rx" {  ; per sample
    rx(%0) 0
  }
  m3 1 "rx" {  ; per sample
    rx(%1) 0
  }
  m4 1 "rx" {  ; per sample
    rx(%2) 0
  }
  m5 1 "rx" {  ; per sample
    rx(%3) 0
  }
  m6 1 "rx" {  ; per sample
    rx(%4) 0
  }
  m7 1 "rx" {  ; per sample
    rx(%5) 0
  }
  m8 1 "rx" {  ; per sample
    rx(%6) 0
  }
  m9 1 "rx" {  ; per sample
    rx(%7) 0
  }
  m10 1 "rotate" {  ; shared
    pow_x(%8) 0
    pow_y(%9) 0
    pow_z(%10) 0
  }
  m11 1 "rotate" {  ; shared
    pow_x(%11) 0
    pow_y(%12) 0
    pow_z(%13) 0
  }
  m12 1 "rotate" {  ; shared
    pow_x(%17) 0
    pow_y(%18) 0
    pow_z(%19) 0
  }
  m13 1 "rotate" {  ; shared
    pow_x(%20) 0
    pow_y(%21) 0
    pow_z(%22) 0
  }
  m14 2 "entangle" {  ; shared
    m10 0
    m11 1
    pow_zz(%14) 0 1
    pow_yy(%15) 0 1
    pow_xx(%16) 0 1
    m12 0
    m13 1
  }
  m15 1 "rotate" {  ; shared
    pow_x(%23) 0
    pow_y(%24) 0
    pow_z(%25) 0
  }
  m16 1 "rotate" {  ; shared
    pow_x(%26) 0
    pow_y(%27) 0
    pow_z(%28) 0
  }
  m17 2 "merge" {  ; shared
    m15 1
    m16 0
    ctrl x 0 1
    inv m15 1
  }
  m18 1 "rotate" {  ; shared
    pow_x(%29) 0
    pow_y(%30) 0
    pow_z(%31) 0
  }
  m19 1 "rotate" {  ; shared
    pow_x(%32) 0
    pow_y(%33) 0
    pow_z(%34) 0
  }
  m20 1 "rotate" {  ; shared
    pow_x(%38) 0
    pow_y(%39) 0
    pow_z(%40) 0
  }
  m21 1 "rotate" {  ; shared
    pow_x(%41) 0
    pow_y(%42) 0
    pow_z(%43) 0
  }
  m22 2 "entangle" {  ; shared
    m18 0
    m19 1
    pow_zz(%35) 0 1
    pow_yy(%36) 0 1
    pow_xx(%37) 0 1
    m20 0
    m21 1
  }
  m23 1 "rotate" {  ; shared
    pow_x(%44) 0
    pow_y(%45) 0
    pow_z(%46) 0
  }
  m24 1 "rotate" {  ; shared
    pow_x(%47) 0
    pow_y(%48) 0
    pow_z(%49) 0
  }
  m25 2 "merge" {  ; shared
    m23 1
    m24 0
    ctrl x 0 1
    inv m23 1
  }
  m26 1 "rotate" {  ; shared
    pow_x(%50) 0
    pow_y(%51) 0
    pow_z(%52) 0
  }
  m27 1 "rotate" {  ; shared
    pow_x(%53) 0
    pow_y(%54) 0
    pow_z(%55) 0
  }
  m28 1 "rotate" {  ; shared
    pow_x(%59) 0
    pow_y(%60) 0
    pow_z(%61) 0
  }
  m29 1 "rotate" {  ; shared
    pow_x(%62) 0
    pow_y(%63) 0
    pow_z(%64) 0
  }
  m30 2 "entangle" {  ; shared
    m26 0
    m27 1
    pow_zz(%56) 0 1
    pow_yy(%57) 0 1
    pow_xx(%58) 0 1
    m28 0
    m29 1
  }
  m31 1 "rotate" {  ; shared
    pow_x(%65) 0
    pow_y(%66) 0
    pow_z(%67) 0
  }
  m32 1 "rotate" {  ; shared
    pow_x(%68) 0
    pow_y(%69) 0
    pow_z(%70) 0
  }
  m33 2 "merge" {  ; shared
    m31 1
    m32 0
    ctrl x 0 1
    inv m31 1
  }
circuits
  0 "" wires 8 {
    register "q" 0 8
    m0 0 layer 0 span 0  ; embed[0] line 23
    m0 1 layer 0 span 0  ; embed[0] line 23
    m0 2 layer 0 span 0  ; embed[0] line 23
    m0 3 layer 0 span 0  ; embed[0] line 23
    m0 4 layer 0 span 0  ; embed[0] line 23
    m0 5 layer 0 span 0  ; embed[0] line 23
    m0 6 layer 0 span 0  ; embed[0] line 23
    m0 7 layer 0 span 0  ; embed[0] line 23
    ctrl m1 0 1 layer 0 span 1  ; embed[0] line 23
    ctrl m1 1 2 layer 0 span 1  ; embed[0] line 23
    ctrl m1 2 3 layer 0 span 1  ; embed[0] line 23
    ctrl m1 3 4 layer 0 span 1  ; embed[0] line 23
    ctrl m1 4 5 layer 0 span 1  ; embed[0] line 23
    ctrl m1 5 6 layer 0 span 1  ; embed[0] line 23
    ctrl m1 6 7 layer 0 span 1  ; embed[0] line 23
    ctrl m1 7 0 layer 0 span 1  ; embed[0] line 23
    m2 0 layer 0 span 2  ; embed[0] line 23
    m3 1 layer 0 span 2  ; embed[0] line 23
    m4 2 layer 0 span 2  ; embed[0] line 23
    m5 3 layer 0 span 2  ; embed[0] line 23
    m6 4 layer 0 span 2  ; embed[0] line 23
    m7 5 layer 0 span 2  ; embed[0] line 23
    m8 6 layer 0 span 2  ; embed[0] line 23
    m9 7 layer 0 span 2  ; embed[0] line 23
    m14 0 1 layer 1 span 3  ; conv[0] line 28
    m14 2 3 layer 1 span 3  ; conv[0] line 28
    m14 4 5 layer 1 span 3  ; conv[0] line 28
    m14 6 7 layer 1 span 3  ; conv[0] line 28
    m14 1 2 layer 1 span 3  ; conv[0] line 28
    m14 3 4 layer 1 span 3  ; conv[0] line 28
    m14 5 6 layer 1 span 3  ; conv[0] line 28
    m14 7 0 layer 1 span 3  ; conv[0] line 28
    m17 0 4 layer 2 span 5  ; pool[0] line 29
    discard 0 layer 2 span 4  ; pool[0] line 20
    m17 1 5 layer 2 span 5  ; pool[0] line 29
    discard 1 layer 2 span 4  ; pool[0] line 20
    m17 2 6 layer 2 span 5  ; pool[0] line 29
    discard 2 layer 2 span 4  ; pool[0] line 20
    m17 3 7 layer 2 span 5  ; pool[0] line 29
    discard 3 layer 2 span 4  ; pool[0] line 20
    m22 4 5 layer 3 span 6  ; conv[1] line 28
    m22 6 7 layer 3 span 6  ; conv[1] line 28
    m22 5 6 layer 3 span 6  ; conv[1] line 28
    m22 7 4 layer 3 span 6  ; conv[1] line 28
    m25 4 6 layer 4 span 8  ; pool[1] line 29
    discard 4 layer 4 span 7  ; pool[1] line 20
    m25 5 7 layer 4 span 8  ; pool[1] line 29
    discard 5 layer 4 span 7  ; pool[1] line 20
    m30 6 7 layer 5 span 9  ; conv[2] line 28
    m30 7 6 layer 5 span 9  ; conv[2] line 28
    m33 6 7 layer 6 span 11  ; pool[2] line 29
    discard 6 layer 6 span 10  ; pool[2] line 20
    pauli 1 z7
  }
layers
  0 "embed[0]" embed
  1 "conv[0]"
  2 "pool[0]"
  3 "conv[1]"
  4 "pool[1]"
  5 "conv[2]"
  6 "pool[2]"
spans
  0: 23 9
  1: 23 15
  2: 23 32
  3: 28 36
  4: 20 3
  5: 29 35
  6: 28 36
  7: 20 3
  8: 29 35
  9: 28 36
  10: 20 3
  11: 29 35
