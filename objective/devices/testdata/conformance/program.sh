case $1 in
good) echo right ;;
wrong) echo left ;;
crashes) kill -SEGV $$ ;;
hangs) sleep 100 ;;
esac
