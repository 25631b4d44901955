//! `cargo triton why`.

use crate::error::{Error, Result};
use crate::inspect;
use crate::program::Target;
use crate::trace::{Choice, Contents, Launch, Member, Trace};

/// The options.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo triton why matmul --example matmul\n\nThe program runs; of each call with other shapes it is told which instance a selector chose, what is known of the others, and which image the launch takes. Without a GPU images are those that an H100 takes."
)]
pub struct Args {
    /// The kernel or pool; all by default
    kernel: Option<String>,
    #[command(flatten)]
    target: Target,
    /// All candidates, in place of the ten best
    #[arg(long)]
    all: bool,
    /// Arguments of the program
    #[arg(last = true)]
    args: Vec<String>,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let program = self.target.read()?;
        let trace = Trace::of(&program.path, &self.args, Contents::Left)?;
        if let Some(status) = &trace.failure {
            eprintln!("warning: {}", Error::Run(status.clone()));
        }
        let asked = |name: &str| {
            let name = name.split("::<").next().unwrap_or(name);
            self.kernel.as_deref().is_none_or(|asked| asked.split("::<").next() == Some(name))
        };
        let choices: Vec<&Choice> = trace.choices.iter().filter(|choice| asked(&choice.pool)).collect();
        let launches: Vec<&Launch> = trace.launches.iter().filter(|launch| asked(&launch.instance)).collect();
        if choices.is_empty() && launches.is_empty() {
            return Err(Error::NoLaunch(format!(" `{}`", self.kernel.unwrap_or_default())));
        }
        for choice in choices {
            self.choice(choice);
        }
        for launch in launches {
            println!("{} on {}\n  {launch}", launch.instance, launch.device);
            let Some(kernel) = program.kernels.iter().find(|kernel| launch.is_of(kernel)) else { continue };
            let images = inspect::images(kernel)?;
            match &images[..] {
                [_] => println!(
                    "  there is one image: no argument is known to make accesses wider (`show` has the advice)"
                ),
                _ => println!("  the arguments keep what `{}` assumes", launch.holds.0.name()),
            }
            for (image, why) in images.iter().zip(&launch.images) {
                let (mark, why) = match why {
                    None => ("->", "taken: the first whose assumptions hold"),
                    Some(why) => ("  ", why.as_str()),
                };
                println!("  {mark} {:<30} {why}", inspect::name(image));
            }
            println!();
        }
        Ok(())
    }

    fn choice(&self, choice: &Choice) {
        let chosen = choice.members.get(choice.chosen).map_or("?", |member| &member.name);
        println!("{} on {}, key {:?}", choice.pool, choice.device, choice.key);
        println!("  chose {chosen}: {}", choice.why);
        let mut members: Vec<(usize, &Member)> = choice.members.iter().enumerate().collect();
        let time = |member: &Member| member.measured.or(member.estimate).unwrap_or(f64::INFINITY);
        members.sort_by(|(_, a), (_, b)| b.fits.cmp(&a.fits).then(time(a).total_cmp(&time(b))));
        println!("     {:<44} {:>12} {:>12}", "candidate", "estimate us", "measured us");
        let most = if self.all { usize::MAX } else { 10 };
        let shown = |value: Option<f64>| match value {
            Some(us) if us.is_finite() => format!("{us:.1}"),
            Some(_) => "failed".into(),
            None => "-".into(),
        };
        for (place, (index, member)) in members.iter().enumerate() {
            let is_chosen = *index == choice.chosen;
            if place >= most && !is_chosen {
                continue;
            }
            let why = if member.fits { "" } else { "  does not fit this call" };
            let mark = if is_chosen { "->" } else { "  " };
            println!("  {mark} {:<44} {:>12} {:>12}{why}", member.name, shown(member.estimate), shown(member.measured));
        }
        if members.len() > most {
            println!("     and {} more: --all lists them", members.len() - most);
        }
        println!();
    }
}
