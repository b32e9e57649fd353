struct body { uint8_t kind; double mass; float at[3]; };
struct setup { float scale; int64_t count; };
struct result { int32_t kind; double weight; };
enum { good, wrong, unwritten, padding };
