//! Servers for the tests, on free ports of the loopback address, with nothing on disk.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server that ends with its value.
pub(crate) struct Server {
    pub(crate) port: u16,
    bus: u16,
    options: Vec<String>,
    folder: TempDir,
    child: Child,
}

impl Server {
    pub(crate) fn start(options: &[&str]) -> Self {
        // Somebody else can take a port that was free.
        for _ in 0..5 {
            let (port, bus) = (free_port(), free_port());
            let folder = tempfile::tempdir().expect("a folder");
            let options: Vec<String> = options.iter().map(ToString::to_string).collect();
            let child = spawn(port, bus, &options, &folder);
            let mut server = Self { port, bus, options, folder, child };
            if server.is_up() {
                return server;
            }
        }
        panic!("no server would start");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// SIGKILL, and the end of the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a process");
        self.child.wait().expect("a process");
    }

    /// Starts it again, where it was.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.port, self.bus, &self.options, &self.folder);
        assert!(self.is_up(), "the server does not start again");
    }

    /// Sends a command, and reads what comes of it at once.
    pub(crate) fn say(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        stream.write_all(format!("{command}\r\nQUIT\r\n").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    fn say_ok(&self, command: &str) {
        let said = self.say(command);
        assert!(said.as_ref().is_some_and(|said| said.starts_with("+OK")), "{command}: {said:?}");
    }

    fn is_up(&mut self) -> bool {
        let limit = Instant::now() + Duration::from_secs(20);
        while Instant::now() < limit {
            if self.child.try_wait().expect("a process").is_some() {
                return false;
            }
            if self.say("PING").is_some_and(|answer| answer.starts_with("+PONG")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three nodes that share the slots.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
}

const NODE: [&str; 6] = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--cluster-require-full-coverage",
    "no",
];

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::announcing([None; 3])
    }

    /// The same, of nodes that say of themselves that they are at these ports.
    pub(crate) fn announcing(ports: [Option<u16>; 3]) -> Self {
        let node = |port: Option<u16>| {
            let port = port.map(|port| port.to_string());
            let announced = port.iter().flat_map(|port| ["--cluster-announce-port", port]);
            Server::start(&NODE.into_iter().chain(announced).collect::<Vec<_>>())
        };
        let cluster = Self { nodes: ports.into_iter().map(node).collect() };
        for (node, slots) in cluster.nodes.iter().zip(["0 5460", "5461 10922", "10923 16383"]) {
            node.say_ok(&format!("CLUSTER ADDSLOTSRANGE {slots}"));
            cluster.meet(node);
        }
        cluster.wait("cluster_slots_ok:16384");
        cluster
    }

    /// Adds a node that copies the last one, and waits until it has everything.
    pub(crate) fn add_replica_of_last(&mut self) {
        let last = self.nodes.last().expect("a node");
        let id = last.say("CLUSTER MYID").expect("an answer");
        let id = id.lines().nth(1).expect("an id after its length");
        let replica = Server::start(&NODE);
        self.meet(&replica);
        until("the replica knows whom to copy", || {
            replica.say(&format!("CLUSTER REPLICATE {id}")).is_some_and(|said| said.starts_with("+OK"))
        });
        until("the replica has everything", || {
            let info = replica.say("INFO replication").unwrap_or_default();
            info.contains("master_link_status:up") && replica.say("DBSIZE") == last.say("DBSIZE")
        });
        self.nodes.push(replica);
        self.wait("cluster_known_nodes:4");
    }

    fn meet(&self, node: &Server) {
        self.nodes[0].say_ok(&format!("CLUSTER MEET 127.0.0.1 {} {}", node.port, node.bus));
    }

    fn wait(&self, sign: &str) {
        let knows = |node: &Server| {
            let info = node.say("CLUSTER INFO").unwrap_or_default();
            info.contains("cluster_state:ok") && info.contains(sign)
        };
        until("the nodes become a cluster", || self.nodes.iter().all(knows));
    }

    pub(crate) fn url(&self) -> String {
        let nodes: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis+cluster://{}", nodes.join(","))
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < limit, "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn spawn(port: u16, bus: u16, options: &[String], folder: &TempDir) -> Child {
    let mut command = Command::new(program());
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(folder.path());
    if options.iter().any(|option| option == "--cluster-enabled") {
        command.args(["--cluster-port", &bus.to_string()]);
    }
    command.args(options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("a server that can be run")
}

/// The server's program: the one that `MAYI_TEST_REDIS` names, or Valkey or Redis of this machine.
fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("MAYI_TEST_REDIS") {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["valkey-server", "redis-server"];
    let found = names
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file());
    found.expect(
        "these tests need valkey-server or redis-server: install one, or run them as \
         MAYI_TEST_REDIS=$(scripts/test-servers) cargo test",
    )
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
