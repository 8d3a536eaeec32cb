/** Forwards connections between the program and a server, so that a test can cut them. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    const wire = new Wire(server);
    server.on('connection', (near) => {
      if (wire.#cut) return void near.destroy();
      const far = connect({ host: hostname, port: Number(port) });
      for (const socket of [near, far]) {
        wire.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          wire.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return wire;
  }

  /** Returns the URL of the same database through the proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String((this.#server.address() as AddressInfo).port);
    return changed.href;
  }

  /** Resets every connection and accepts no new connections. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
