test "$1" != unbuilt && cp program.sh "$2"
