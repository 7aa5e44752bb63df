// What is one endpoint? A method, a path and a handler; one constant in src/server/endpoints/<name>.cpp.
#pragma once
