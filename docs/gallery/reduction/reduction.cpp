#include <cstdint>

template <int Lanes, class Number>
void reduce(const Number *x, Number *sums, std::int32_t rows, std::int32_t n) {
	for (std::int32_t r = 0; r < rows; r++, x += n) {
		Number part[Lanes] = {}, sum = 0;
		std::int32_t i = 0;
		for (; i + Lanes <= n; i += Lanes)
			for (int l = 0; l < Lanes; l++)
				part[l] += x[i + l];
		for (; i < n; i++)
			sum += x[i];
		for (Number p : part)
			sum += p;
		sums[r] = sum;
	}
}
