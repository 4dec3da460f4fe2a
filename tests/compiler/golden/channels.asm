qcnn_asm 1
weights
  0 "t" float ~ uniform(0, 6.283185307179586)
exprs
  %0 = weight 0  ; t
  %1 = const 0.27999999999999997
  %2 = const 0.23999999999999996
  %3 = const 0.19999999999999998
  %4 = const 0.16
  %5 = const 0.12000000000000001
  %6 = const 0.08
  %7 = const 0.04
  %8 = const 0.25999999999999995
  %9 = const 0.18
  %10 = const 0.1
  %11 = const 0.02
  %12 = const 0.21999999999999997
  %13 = const 0.06
  %14 = const 0.3
  %15 = const 0.14
  %16 = draw 0
  %17 = less %16 %8
  %18 = less %16 %9
  %19 = sub %17 %18
  %20 = less %16 %10
  %21 = add %19 %20
  %22 = less %16 %11
  %23 = sub %21 %22
  %24 = less %16 %1
  %25 = less %16 %2
  %26 = sub %24 %25
  %27 = less %16 %3
  %28 = add %26 %27
  %29 = less %16 %4
  %30 = sub %28 %29
  %31 = less %16 %5
  %32 = add %30 %31
  %33 = less %16 %6
  %34 = sub %32 %33
  %35 = less %16 %7
  %36 = add %34 %35
  %37 = less %16 %14
  %38 = less %16 %15
  %39 = sub %37 %38
  %40 = less %16 %12
  %41 = less %16 %13
  %42 = sub %40 %41
  %43 = draw 1
  %44 = less %43 %8
  %45 = less %43 %9
  %46 = sub %44 %45
  %47 = less %43 %10
  %48 = add %46 %47
  %49 = less %43 %11
  %50 = sub %48 %49
  %51 = less %43 %1
  %52 = less %43 %2
  %53 = sub %51 %52
  %54 = less %43 %3
  %55 = add %53 %54
  %56 = less %43 %4
  %57 = sub %55 %56
  %58 = less %43 %5
  %59 = add %57 %58
  %60 = less %43 %6
  %61 = sub %59 %60
  %62 = less %43 %7
  %63 = add %61 %62
  %64 = less %43 %14
  %65 = less %43 %15
  %66 = sub %64 %65
  %67 = less %43 %12
  %68 = less %43 %13
  %69 = sub %67 %68
  %70 = const 0.25
  %71 = draw 2
  %72 = less %71 %70
  %73 = draw 3
  %74 = less %73 %70
  %75 = draw 4
  %76 = less %75 %70
  %77 = const 0.30000000000000004
  %78 = draw 5
  %79 = less %78 %77
  %80 = less %78 %10
  %81 = sub %79 %80
matrices
  m0 1 "ry" {  ; shared
    ry(%0) 0
  }
  m1 2 "depolarizing(0.3)" {  ; per sample
    pow_z(%23) 0
    pow_x(%36) 0
    pow_z(%39) 1
    pow_x(%42) 1
  }
  m2 2 "depolarizing(0.3)" {  ; per sample
    pow_z(%50) 0
    pow_x(%63) 0
    pow_z(%66) 1
    pow_x(%69) 1
  }
  m3 1 "bit_flip(0.25)" {  ; per sample
    pow_x(%72) 0
  }
  m4 1 "bit_flip(0.25)" {  ; per sample
    pow_x(%74) 0
  }
  m5 1 "bit_flip(0.25)" {  ; per sample
    pow_x(%76) 0
  }
  m6 1 "pauli_channel(0.1, 0, 0.2)" {  ; per sample
    pow_z(%81) 0
    pow_x(%80) 0
  }
circuits
  0 "" wires 3 {
    register "q" 0 3
    m0 0 span 0  ; line 5
    m1 0 1 span 1  ; line 5
    m0 1 span 0  ; line 5
    m2 1 2 span 1  ; line 5
    m3 0 span 2  ; line 8
    m4 1 span 2  ; line 8
    m5 0 span 3  ; line 9
    m6 2 span 4  ; line 10
    pauli 1 z0
    pauli 1 z1
    pauli 1 z2
  }
spans
  0: 5 29
  1: 5 38
  2: 8 1
  3: 9 1
  4: 10 1
