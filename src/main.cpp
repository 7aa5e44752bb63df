// Where does the program start? In the command line's room.
#include "cli/main.h"

int main(int argc, char** argv) { return ferrox::run_command_line(argc, argv); }
