//! The shortest decimal form of doubles.
//!
//! - In: a finite double.
//! - Out: the shortest digits that restore it, as in ECMAScript and RFC 8785.
//! - Law: of two shortest forms that are equally close, the one with the even last digit is
//!   returned.

/// Returns a double in scientific notation, such as `1.25e-7`.
pub(crate) fn shortest(number: f64) -> String {
    let text = format!("{number:e}");
    let digits = text.bytes().take_while(|&byte| byte != b'e');
    let count = digits.filter(u8::is_ascii_digit).count();
    // The standard library rounds ties up. A tie lies between two adjacent multiples of a power of
    // ten that restore the same double, so these have at least as many digits as 2^52.
    if count < 16 {
        return text;
    }
    let precision = count - 1;
    let nearest = format!("{number:.precision$e}");
    let restored: Result<f64, _> = nearest.parse();
    // Just above a power of two, the nearest form may be that of the next lower double.
    if restored == Ok(number) {
        nearest
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of ECMAScript: between 2^49 and 2^53, powers of two, and extremes.
    #[test]
    fn doubles_have_the_digits_of_ecmascript() {
        for (number, text) in [
            ("1223383794756801.25", "1.2233837947568012e15"),
            ("1223383794756801.75", "1.2233837947568018e15"),
            ("562949953421312.125", "5.629499534213121e14"),
            ("-4503599627370497.5", "-4.503599627370498e15"),
            ("846339755910993.250", "8.463397559109932e14"),
            ("764275535105611.625", "7.642755351056116e14"),
            ("640824553564343.625", "6.408245535643436e14"),
            ("747262379348336.875", "7.472623793483369e14"),
            ("2029672373983111.75", "2.0296723739831118e15"),
            ("1870461126855416.25", "1.8704611268554162e15"),
            ("1587597623589342.75", "1.5875976235893428e15"),
            ("1142778827586380.75", "1.1427788275863808e15"),
            ("3410128041164285.5", "3.4101280411642855e15"),
            ("2545272682073552.5", "2.5452726820735525e15"),
            ("3441382314016250.5", "3.4413823140162505e15"),
            ("3356731383995034.5", "3.3567313839950345e15"),
            ("4812907559171500", "4.8129075591715e15"),
            ("5956222659551107", "5.956222659551107e15"),
            ("5840951006218756", "5.840951006218756e15"),
            ("6973685019697219", "6.973685019697219e15"),
            ("7.12023634722304442589e-307", "7.120236347223045e-307"),
            ("8.20907360259675249867e-289", "8.209073602596753e-289"),
            ("6.31088724176809444329e-30", "6.310887241768095e-30"),
            ("5.68434188608080148697e-14", "5.684341886080802e-14"),
            ("2.98023223876953125000e-8", "2.9802322387695312e-8"),
            ("6.18970019642690137450e+26", "6.189700196426902e26"),
            ("5.31691198313966349162e+36", "5.316911983139664e36"),
            ("6.38668899051110339730e+293", "6.386688990511104e293"),
            ("4.94065645841246544177e-324", "5e-324"),
            ("8.98846567431157953865e+307", "8.98846567431158e307"),
            ("0.1", "1e-1"),
            ("0", "0e0"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
        ] {
            assert_eq!(
                number.parse().map(shortest),
                Ok(text.to_owned()),
                "{number}"
            );
        }
    }
}
