// How do tests run `ferrox serve`? On a free port, stopped by SIGTERM, which must end it with exit code 0.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/// Starts the server and resolves when it says where it listens.
export async function startServer(...args) {
  const child = spawn(process.env.FERROX, ['serve', '--port', '0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise((resolve, reject) => {
    const said = [];
    lines.on('line', (line) => {
      said.push(line);
      const found = line.match(/listening on (http:\S+)/);
      if (found) resolve(found[1]);
    });
    exited.then(([code]) => reject(new Error(`server exited with ${code}: ${said.join('\n')}`)), reject);
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      const [code, signal] = await exited;
      if (code !== 0) throw new Error(`server ended with code ${code}, signal ${signal}`);
    },
  };
}
