// Hears six topics, some of them packed, drives, asks for services, and prints what it got as a
// line of JSON.
//
//     node peer.mjs PORT
//
// The package is looked for where ROSLIB says, so that it may be installed anywhere.
import { pathToFileURL } from "node:url";

const { Ros, Topic, Service } = await import(
  process.env.ROSLIB ? pathToFileURL(process.env.ROSLIB).href : "roslib"
);
const PATIENCE = 30000; // ms
const COUNT = 5; // messages of each topic

setTimeout(() => {
  console.error("it took too long");
  process.exit(3);
}, PATIENCE).unref();

const ros = new Ros({});
await new Promise((resolve, reject) => {
  ros.on("connection", resolve);
  ros.on("error", reject);
  ros.connect(`ws://127.0.0.1:${process.argv[2]}`).catch(reject);
});

const topics = {
  imu: ["/imu/data", "sensor_msgs/Imu"],
  scan: ["/scan", "sensor_msgs/msg/LaserScan", "cbor"],
  truth: ["/ground_truth/odom", "nav_msgs/Odometry"],
  belief: ["/belief/pose", "geometry_msgs/PoseWithCovarianceStamped", "cbor"],
  tf: ["/tf", "tf2_msgs/TFMessage", "cbor"],
  clock: ["/clock", "rosgraph_msgs/Clock"],
};

function hear(name, messageType, compression = "none") {
  const topic = new Topic({ ros, name, messageType, compression });
  const heard = [];
  return new Promise((resolve) => {
    topic.subscribe((message) => {
      heard.push(message);
      if (heard.length === COUNT) {
        topic.unsubscribe();
        resolve(heard);
      }
    });
  });
}

function call(name, request) {
  const service = new Service({ ros, name, serviceType: "" });
  return new Promise((resolve, reject) => service.callService(request, resolve, reject));
}

const driving = new Topic({ ros, name: "/cmd_vel", messageType: "geometry_msgs/Twist" });
driving.publish({ linear: { x: 0.5, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0.25 } });

const found = {};
await Promise.all(
  Object.entries(topics).map(async ([key, wanted]) => (found[key] = await hear(...wanted))),
);
found.topics = await new Promise((resolve, reject) => ros.getTopics(resolve, reject));
found.services = await new Promise((resolve, reject) => ros.getServices(resolve, reject));
found.nodes = await new Promise((resolve, reject) => ros.getNodes(resolve, reject));
found.paused = await call("/set_simulation_state", { state: { state: 2 } });
found.before = await call("/get_entity_state", { entity: "rover" });
found.stepped = await call("/step_simulation", { steps: 10 });
found.after = await call("/get_entity_state", { entity: "rover" });
found.failed = await call("/nothing", {}).catch((why) => why);
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
found.typed = found.scan.every((scan) => scan.ranges instanceof Float32Array);
console.log(JSON.stringify(found, plain));
ros.close();
