#include <cstdint>

void polynomial(const double *x, const double *coefficients, double *y, std::int64_t n)
{
    for (std::int64_t i = 0; i < n; i++) {
        long double sum = 0, power = 1;
        for (int k = 0; k < 16; k++, power *= x[i])
            sum += coefficients[k] * power;
        y[i] = double(sum);
    }
}
