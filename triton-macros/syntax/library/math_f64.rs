//! Those functions of `math.rs` that are computed in `f32` there, for `f64`: each is called as the one without `_f64`. Every step is IEEE, so that
//! results have the same bits on every device. Coefficients are fitted as those of the compiler's own functions of `f64`.

/// As in `f32`: within 2 ulp.
fn sigmoid_f64<T>(x: Value<T>) -> Value<T> {
    let e = exp(-abs(x));
    select(x < 0.0, e, 1.0) / (1.0 + e)
}

/// As in `f32`: within 2 ulp.
fn tanh_f64<T>(x: Value<T>) -> Value<T> {
    let (a, s) = (abs(x), x * x);
    let p = fma(s, -1.946_077_090_386_117_3e-5, 8.326_402_126_084_501e-5);
    let p = fma(s, p, -0.000_233_346_831_241_857_65);
    let p = fma(s, p, 0.000_588_431_602_666_117_3);
    let p = fma(s, p, -0.001_455_539_914_246_442_5);
    let p = fma(s, p, 0.003_592_091_608_948_517);
    let p = fma(s, p, -0.008_863_232_563_436_692);
    let p = fma(s, p, 0.021_869_488_383_797_795);
    let p = fma(s, p, -0.053_968_253_963_699_794);
    let p = fma(s, p, 0.133_333_333_333_265_4);
    let p = fma(s, p, -0.333_333_333_333_333);
    let near = fma(p * s, x, x);
    let far = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    let far = select(x < 0.0, -far, far);
    select(a < 0.55, near, far)
}

/// As in `f32`: within 1 ulp. From 5.95 on it is ±1, and the parabola of the complement's logarithm is left.
fn erf_f64<T>(x: Value<T>) -> Value<T> {
    let (a, s) = (abs(x), x * x);
    let p = fma(s, -8.495_668_552_113_86e-10, 1.405_988_019_111_128e-8);
    let p = fma(s, p, -1.627_984_947_597_923_8e-7);
    let p = fma(s, p, 1.645_590_917_557_324_1e-6);
    let p = fma(s, p, -1.492_536_461_018_222_4e-5);
    let p = fma(s, p, 0.000_120_553_248_254_799_73);
    let p = fma(s, p, -0.000_854_832_689_543_497_2);
    let p = fma(s, p, 0.005_223_977_624_885_519_5);
    let p = fma(s, p, -0.026_866_170_645_267_79);
    let p = fma(s, p, 0.112_837_916_709_572_62);
    let p = fma(s, p, -0.376_126_389_031_838_54);
    let p = fma(s, p, 0.128_379_167_095_512_6);
    let near = fma(p, x, x);
    let q = fma(a, 1.281_807_982_043_382_1e-12, -5.762_137_235_368_416e-11);
    let q = fma(a, q, 1.212_821_136_929_238_9e-9);
    let q = fma(a, q, -1.586_817_112_189_693e-8);
    let q = fma(a, q, 1.443_121_565_967_842_7e-7);
    let q = fma(a, q, -9.642_428_284_823_475e-7);
    let q = fma(a, q, 4.856_589_270_581_698e-6);
    let q = fma(a, q, -1.843_758_516_741_274_2e-5);
    let q = fma(a, q, 5.056_110_328_898_993e-5);
    let q = fma(a, q, -8.299_860_396_448_065e-5);
    let q = fma(a, q, -2.176_074_940_003_481_7e-5);
    let q = fma(a, q, 0.000_607_638_030_237_611_4);
    let q = fma(a, q, -0.001_730_445_371_240_643_6);
    let q = fma(a, q, 0.000_245_911_948_166_503_1);
    let q = fma(a, q, 0.019_101_814_578_182_167);
    let q = fma(a, q, -0.102_759_172_458_340_85);
    let q = fma(a, q, -0.636_624_323_836_142);
    let q = fma(a, q, -1.128_378_230_101_182);
    let q = fma(a, q, -8.883_459_527_717_954e-8);
    let far = select(a < 5.95, 1.0 - exp(q), 1.0);
    let far = select(x < 0.0, -far, far);
    select(a < 0.92, near, select(a == a, far, x))
}
