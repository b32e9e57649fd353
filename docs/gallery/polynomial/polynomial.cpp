#include <cstdint>

namespace gallery {

template <bool Estrin> double at(double x, const double *c)
{
    if constexpr (Estrin) {
        double terms[16], power = x;
        for (int i = 0; i < 16; i++)
            terms[i] = c[i];
        for (int n = 8; n > 0; n /= 2, power *= power)
            for (int i = 0; i < n; i++)
                terms[i] = terms[2 * i] + terms[2 * i + 1] * power;
        return terms[0];
    } else {
        double sum = c[15];
        for (int i = 14; i >= 0; i--)
            sum = sum * x + c[i];
        return sum;
    }
}

template <int Lanes, bool Estrin> void polynomial(const double *x, const double *coefficients, double *y, std::int64_t n)
{
    std::int64_t i = 0;
    for (; i + Lanes <= n; i += Lanes) {
        double results[Lanes];
        for (int lane = 0; lane < Lanes; lane++)
            results[lane] = at<Estrin>(x[i + lane], coefficients);
        for (int lane = 0; lane < Lanes; lane++)
            y[i + lane] = results[lane];
    }
    for (; i < n; i++)
        y[i] = at<Estrin>(x[i], coefficients);
}

} // namespace gallery
